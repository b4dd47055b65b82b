package requests

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/builtin"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

// A Missing is a params object, or the Namespace of requests, that a policy needs and that is not among the documents.
type Missing struct {
	Policy  string
	Binding string // "" for a Namespace
	// Object describes the object, such as "v1 ConfigMap named limits in namespace default".
	Object string
	// Example is such an object, or nil if its kind is not known or no object is found.
	Example map[string]any
	// Denying is an example with which a request is denied, if none is with Example, or nil. Choose sets it.
	Denying map[string]any
	// Useless is set by Choose if no request was found that is accepted with the example.
	Useless bool

	// engine validates examples, and sample is an object that it accepts. Both are nil unless the kind is that of a CRD.
	engine *engine.Engine
	sample map[string]any
}

// fits reports whether the CRD of a params object accepts it, as far as it is known.
func (m *Missing) fits(ctx context.Context, object map[string]any) (bool, error) {
	if m.engine == nil {
		return true, nil
	}
	res, err := m.engine.Validate(ctx, engine.Request{Object: object})
	return err == nil && res.Allowed, ctx.Err()
}

// MissingObjects returns the params objects and Namespaces that policies with a binding need and that are not among
// documents. It finds their kinds in crds, among documents, and in Kubernetes. It returns an error if ctx is done, or on an internal
// error.
func MissingObjects(
	ctx context.Context, documents []map[string]any, crds []*apiextensionsv1.CustomResourceDefinition,
) ([]Missing, error) {
	m := &missing{ctx: ctx, documents: documents, crds: slices.Concat(crds, Definitions(documents))}
	for _, d := range documentsOf(documents) {
		if !d.bound {
			continue
		}
		bindings, labels := d.bindings(documents), labelsOf(object(object(d.fields, "matchConstraints"), "namespaceSelector"))
		for _, b := range bindings {
			maps.Copy(labels, labelsOf(object(object(object(b, "spec"), "matchResources"), "namespaceSelector")))
		}
		delete(labels, corev1.LabelMetadataName)
		namespace := m.namespaceOf(d, labels)
		for _, b := range bindings {
			ref := object(object(b, "spec"), "paramRef")
			if !d.hasParams || ref == nil {
				continue
			}
			if err := m.params(d, text(object(b, "metadata"), "name"), ref, namespace); err != nil {
				return nil, err
			}
		}
		m.namespace(d, labels, namespace)
	}
	return m.found, nil
}

// Examples returns the examples of missing objects.
func Examples(all []Missing) (examples []map[string]any) {
	for _, one := range all {
		if one.Example != nil {
			examples = append(examples, one.Example)
		}
	}
	return examples
}

// DenyingExamples is like Examples, but prefers Denying. It returns nil if nothing has it.
func DenyingExamples(all []Missing) []map[string]any {
	all = slices.Clone(all)
	found := false
	for i := range all {
		if all[i].Denying != nil {
			all[i].Example, found = all[i].Denying, true
		}
	}
	if !found {
		return nil
	}
	return Examples(all)
}

// String names the object, and the policy or binding that needs it.
func (m *Missing) String() string {
	if m.Binding == "" {
		return fmt.Sprintf("policy %s needs the %s", m.Policy, m.Object)
	}
	article := "a"
	if strings.ContainsAny(m.Object[:1], "aeio") {
		article = "an"
	}
	return fmt.Sprintf("binding %s of policy %s needs %s %s", m.Binding, m.Policy, article, m.Object)
}

type missing struct {
	ctx       context.Context
	documents []map[string]any
	crds      []*apiextensionsv1.CustomResourceDefinition
	found     []Missing
}

func (m *missing) namespaceOf(d *document, labels map[string]any) string {
	for _, doc := range m.documents {
		if doc["kind"] == "Namespace" && len(labels) > 0 && hasLabels(doc, labels) {
			return text(object(doc, "metadata"), "name")
		}
	}
	return cmp.Or(append(slices.Clone(d.namespaces), metav1.NamespaceDefault)...)
}

// params adds the object that a paramRef needs. namespace is the namespace of requests.
func (m *missing) params(d *document, binding string, ref map[string]any, namespace string) error {
	kind := object(d.fields, "paramKind")
	example, namespaced, by, err := m.example(schema.FromAPIVersionAndKind(text(kind, "apiVersion"), text(kind, "kind")))
	if err != nil {
		return err
	}
	one := Missing{Policy: d.name, Binding: binding, Example: example, engine: by}
	if example == nil {
		example = map[string]any{"apiVersion": kind["apiVersion"], "kind": kind["kind"]}
	}
	var labels map[string]any // nil for a reference by name
	meta := map[string]any{"name": text(ref, "name")}
	one.Object = fmt.Sprintf("%v %v named %v", kind["apiVersion"], kind["kind"], meta["name"])
	if selector := object(ref, "selector"); selector != nil {
		labels = labelsOf(selector)
		meta = map[string]any{"name": requiredText, "labels": labels}
		one.Object = fmt.Sprintf("%v %v with the labels of its selector", kind["apiVersion"], kind["kind"])
	}
	if given := text(ref, "namespace"); namespaced || given != "" {
		meta["namespace"] = cmp.Or(given, namespace)
		one.Object += fmt.Sprintf(" in namespace %s", meta["namespace"])
	}
	example["metadata"] = meta
	if by != nil {
		one.sample = runtime.DeepCopyJSON(example)
	}
	d.fill("params", example)
	m.add(one, example, labels)
	return nil
}

func (m *missing) namespace(d *document, labels map[string]any, name string) {
	reads := slices.ContainsFunc(d.expressions(), func(expression string) bool {
		return slices.Contains(identifier.FindAllString(expression, -1), "namespaceObject")
	})
	if !reads && len(labels) == 0 {
		return
	}
	meta := map[string]any{"name": name}
	if len(labels) > 0 {
		meta["labels"] = labels
	}
	example := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": meta}
	d.fill("namespaceObject", example)
	m.add(Missing{Policy: d.name, Object: "Namespace " + name, Example: example}, example, nil)
}

// add ignores an object that the documents have, and completes the example of an object that it has added. labels are
// the labels of a selector, or nil.
func (m *missing) add(one Missing, example, labels map[string]any) {
	meta := object(example, "metadata")
	namespace := func(meta map[string]any) string { return cmp.Or(text(meta, "namespace"), metav1.NamespaceDefault) }
	is := func(other map[string]any) bool {
		of := object(other, "metadata")
		isKind := other["kind"] == example["kind"] && other["apiVersion"] == example["apiVersion"]
		return isKind && namespace(of) == namespace(meta) && (of["name"] == meta["name"] || labels != nil && hasLabels(other, labels))
	}
	if slices.ContainsFunc(m.documents, is) {
		return
	}
	for _, other := range m.found {
		if other.Example != nil && is(other.Example) {
			overlaid(example, other.Example)
			return
		}
	}
	m.found = append(m.found, one)
}

func hasLabels(of, labels map[string]any) bool {
	own := object(object(of, "metadata"), "labels")
	for key, value := range labels {
		if own[key] != value {
			return false
		}
	}
	return true
}

// example returns an object of a kind, or nil. by is the engine of the CRD that accepts it, or nil.
func (m *missing) example(gvk schema.GroupVersionKind) (object map[string]any, namespaced bool, by *engine.Engine, err error) {
	for _, crd := range m.crds {
		if crd.Spec.Group != gvk.Group || crd.Spec.Names.Kind != gvk.Kind {
			continue
		}
		namespaced := crd.Spec.Scope == apiextensionsv1.NamespaceScoped
		e, _ := engine.Compile(crd, engine.Config{}) // errors of the CRD are reported elsewhere
		if e == nil {
			return nil, namespaced, nil, nil
		}
		s, err := search.New(crd, e, gvk.Version, search.Config{})
		if err != nil {
			return nil, namespaced, nil, nil // the CRD has no such version
		}
		found, err := s.Sample(m.ctx, true)
		if err != nil || found.Witness == nil {
			return nil, namespaced, nil, err
		}
		return found.Witness.Object, namespaced, e, nil
	}
	catalog, err := builtin.Newest()
	if err != nil {
		return nil, false, nil, err
	}
	for _, k := range catalog.Kinds() {
		if k.GroupVersionKind == gvk && k.Resource != "" {
			return catalog.Example(gvk), k.Namespaced, nil, nil
		}
	}
	return nil, false, nil, nil
}

// labelsOf returns the labels that matchLabels, Exists, and In require. selector may be nil.
func labelsOf(selector map[string]any) map[string]any {
	labels := maps.Clone(object(selector, "matchLabels"))
	if labels == nil {
		labels = map[string]any{}
	}
	for _, one := range list(selector, "matchExpressions") {
		values, _ := one["values"].([]any)
		switch metav1.LabelSelectorOperator(text(one, "operator")) {
		case metav1.LabelSelectorOpExists:
			labels[text(one, "key")] = requiredText
		case metav1.LabelSelectorOpIn:
			if len(values) > 0 {
				labels[text(one, "key")] = values[0]
			}
		}
	}
	return labels
}

var (
	// reading matches a path below a root: the function around it, the root, the path, whether it ends with a call,
	// and the constant that it is compared with.
	reading = regexp.MustCompile(`(?:(\w+)\(\s*)?\b(params|namespaceObject)((?:\s*\.\??\s*\w+|\[\??\s*['"][^'"\\]*['"]\s*\])+)(\()?(?:\s*[=!]=\s*['"]([^'"\\]*)['"])?`)
	segment = regexp.MustCompile(`\w+|['"][^'"]*['"]`)
)

// argumentsOf maps functions to an argument with which they do not fail.
var argumentsOf = map[string]string{
	"int": "1", "uint": "1", "double": "1", "quantity": "1", "bool": "true", "duration": "1h", "semver": "1.0.0",
}

// fill adds the labels, annotations, and data of a ConfigMap that the expressions of a policy read below a root.
func (d *document) fill(root string, example map[string]any) {
	for _, expression := range d.expressions() {
		for _, m := range reading.FindAllStringSubmatch(expression, -1) {
			path := segment.FindAllString(m[3], -1)
			if m[4] != "" {
				path = path[:len(path)-1]
			}
			isData := len(path) == 2 && path[0] == "data" && example["kind"] == "ConfigMap"
			isMeta := len(path) == 3 && path[0] == "metadata" && (path[1] == "labels" || path[1] == "annotations")
			if m[2] != root || !isData && !isMeta {
				continue
			}
			of := example
			for _, name := range path[:len(path)-1] {
				if object(of, name) == nil {
					of[name] = map[string]any{}
				}
				of = object(of, name)
			}
			if key := strings.Trim(path[len(path)-1], `'"`); of[key] == nil || of[key] == requiredText {
				of[key] = cmp.Or(m[5], argumentsOf[m[1]], requiredText)
			}
		}
	}
}
