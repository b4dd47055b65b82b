package policy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/internal/text/spell"
)

type paramsObject struct {
	namespace, name string
	labels          labels.Set
	object          map[string]any
}

// compareParams orders params objects like the server: by namespace, then by name.
func compareParams(a, b paramsObject) int {
	return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
}

const defaultNamespace = "default"

type compiledRef struct {
	name, namespace string
	selector        labels.Selector // nil if name is set
	deny            bool            // parameterNotFoundAction: Deny
}

func newRef(r *paramRef, report reporter) *compiledRef {
	c := &compiledRef{name: r.Name, namespace: r.Namespace}
	switch {
	case r.Name == "" && r.Selector == nil:
		report("spec.paramRef", "set name or selector")
	case r.Name != "" && r.Selector != nil:
		report("spec.paramRef", "name and selector cannot be used together: remove one")
	}
	if r.Selector != nil {
		var err error
		if c.selector, err = metav1.LabelSelectorAsSelector(r.Selector); err != nil {
			report("spec.paramRef.selector", "invalid selector: "+err.Error())
		}
	}
	if a := r.ParameterNotFoundAction; checkOneOf(a, "spec.paramRef.parameterNotFoundAction", true, report, "Allow", "Deny") {
		c.deny = *a == "Deny"
	}
	return c
}

// addParams drops the managedFields of built-in kinds, which the server's cache does not have.
func (l *loader) addParams(h header) {
	if meta, _ := h.object["metadata"].(map[string]any); isBuiltinGroup(h.Group) && meta["managedFields"] != nil {
		meta = maps.Clone(meta)
		delete(meta, "managedFields")
		h.object = maps.Clone(h.object)
		h.object["metadata"] = meta
	}
	l.set.params[h.paramKind()] = append(l.set.params[h.paramKind()], h.paramsObject)
}

func (l *loader) loadScope(doc map[string]any) {
	spec, _ := doc["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	if scope, ok := spec["scope"].(string); ok {
		l.set.scopes[schema.GroupKind{Group: textOf(spec, "group"), Kind: textOf(names, "kind")}] = scope == "Namespaced"
	}
}

// WithParams returns a Set with the same policies and bindings, in which objects are added to the params objects. An
// object replaces an object of the same kind, namespace, and name. If complete is set, these params objects are all
// that exist, as with Config.Complete. WithParams returns an error for an object that cannot be a params object, such
// as one without a name.
func (s *Set) WithParams(objects []map[string]any, complete bool) (*Set, error) {
	derived := *s
	derived.settings.Complete = s.settings.Complete || complete
	derived.params = maps.Clone(s.params)
	added := map[paramKind][]paramsObject{}
	for i, object := range objects {
		h, err := headerOf(object)
		switch {
		case err != nil:
		case h.name == "":
			err = errors.New("metadata.name must be set")
		case h.Group == registration || h.Group == rbacGroup || h.Group == crdGroup:
			err = fmt.Errorf("%s %s cannot be a params object: add it to the policies", h.apiVersion, h.Kind)
		}
		if err != nil {
			return nil, fmt.Errorf("params object %d: %w", i+1, err)
		}
		added[h.paramKind()] = append(added[h.paramKind()], h.paramsObject)
	}
	for kind, list := range added {
		derived.params[kind] = joinParams(s.params[kind], list)
	}
	return &derived, nil
}

// joinParams returns both lists, sorted. It keeps the last of several objects with the same namespace and name.
func joinParams(list, added []paramsObject) []paramsObject {
	all := slices.Concat(list, added)
	slices.Reverse(all)
	seen := map[[2]string]bool{}
	all = slices.DeleteFunc(all, func(p paramsObject) bool {
		key := [2]string{cmp.Or(p.namespace, defaultNamespace), p.name}
		known := seen[key]
		seen[key] = true
		return known
	})
	slices.SortFunc(all, compareParams)
	return all
}

var clusterKinds = map[string]bool{"Namespace": true, "Node": true, "PersistentVolume": true, "ComponentStatus": true}

// isNamespaced guesses if neither a CRD nor Config.Namespaced defines the kind.
func (s *Set) isNamespaced(kind *paramKind, ref *compiledRef) bool {
	of := kind.gvk()
	if namespaced, ok := s.scopes[of.GroupKind()]; ok {
		return namespaced
	}
	if of.Group == "" {
		return !clusterKinds[of.Kind]
	}
	return ref.namespace != "" || slices.ContainsFunc(s.params[*kind], func(p paramsObject) bool { return p.namespace != "" })
}

func isBuiltinGroup(group string) bool {
	switch group {
	case "", "apps", "autoscaling", "batch", "policy", "rbac.authorization.k8s.io", "flowcontrol.apiserver.k8s.io":
		return true
	}
	return strings.HasSuffix(group, ".k8s.io") && strings.Count(group, ".") == 2 // others, such as gateway.networking.k8s.io, have CRDs
}

// serves reports whether the server may have a resource of a kind. A kind is unknown if all params are given, but
// neither its CRD nor an object of it, and its group is not part of Kubernetes.
func (s *Set) serves(kind *paramKind) bool {
	if !s.settings.Complete || len(s.params[*kind]) > 0 {
		return true
	}
	of := kind.gvk().GroupKind()
	_, defined := s.scopes[of]
	return defined || isBuiltinGroup(of.Group)
}

// noParams lets a policy be evaluated once, without params.
var noParams = []map[string]any{nil}

// paramsOf returns an empty list if the policy is skipped. failure is the server's error, and undecided the reason
// why the params are not known.
func (s *Set) paramsOf(p *compiledPolicy, b *compiledBinding, req *Request) (found []map[string]any, failure, undecided string) {
	ref := b.paramRef
	if p.paramKind == nil || ref == nil {
		return noParams, "", ""
	}
	namespace := ""
	if s.isNamespaced(p.paramKind, ref) {
		if namespace = cmp.Or(ref.namespace, req.Namespace); namespace == "" {
			return nil, "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources", ""
		}
	} else if ref.namespace != "" {
		return nil, "paramRef.namespace must not be provided for a cluster-scoped `paramKind`", ""
	}
	var last paramsObject
	for _, candidate := range s.params[*p.paramKind] {
		if candidate.in(namespace) && ref.selects(candidate) {
			if candidate.namespace == last.namespace && candidate.name == last.name && len(found) > 0 {
				return nil, "", fmt.Sprintf("several params objects are %s %s: remove all but one", p.paramKind, candidate)
			}
			found, last = append(found, candidate.object), candidate
		}
	}
	switch {
	case len(found) > 0:
	case !s.settings.Complete:
		if namespace != "" {
			namespace = " in namespace " + namespace
		}
		return nil, "", fmt.Sprintf("no params object of %s %s is among the documents%s: add it, because the binding refers to it%s",
			p.paramKind, ref, namespace, s.similarParams(p.paramKind, ref))
	case ref.deny:
		return nil, "no params found for policy binding with `Deny` parameterNotFoundAction", ""
	}
	return found, "", ""
}

// similarParams returns the end of a message that names the params object that a reference by name may mean, or "".
func (s *Set) similarParams(kind *paramKind, ref *compiledRef) string {
	if ref.name == "" {
		return ""
	}
	hasName := func(p paramsObject) bool { return p.name == ref.name }
	known := s.params[*kind]
	if i := slices.IndexFunc(known, hasName); i >= 0 {
		return "; the one of this name is in namespace " + cmp.Or(known[i].namespace, defaultNamespace)
	}
	for _, other := range []paramKind{{"v1", "ConfigMap"}, {"v1", "Secret"}} {
		if slices.ContainsFunc(s.params[other], hasName) {
			return fmt.Sprintf("; the %s of this name is of another kind", &other)
		}
	}
	var names []string
	for _, p := range known[:min(len(known), 100)] {
		names = append(names, p.name)
	}
	return spell.DidYouMean(ref.name, names)
}

// in reports whether the object is in a namespace, which is "" for kinds that are not namespaced.
func (p *paramsObject) in(namespace string) bool {
	return namespace == "" || cmp.Or(p.namespace, defaultNamespace) == namespace
}

func (p paramsObject) String() string { return strings.TrimPrefix(p.namespace+"/"+p.name, "/") }

func (r *compiledRef) String() string {
	switch {
	case r.selector == nil:
		return "named " + r.name
	case r.selector.Empty():
		return "with any labels"
	}
	return "with the labels " + r.selector.String()
}

func (r *compiledRef) selects(p paramsObject) bool {
	if r.selector != nil {
		return r.selector.Matches(p.labels)
	}
	return r.name == p.name
}
