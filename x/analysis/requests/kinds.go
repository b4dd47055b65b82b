package requests

import (
	"regexp"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/builtin"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// ownSubresources returns the subresources of a resource that write its objects, or a part of them.
func ownSubresources(k *builtin.Kind) (names []string) {
	for _, s := range k.Subresources {
		if s.Kind == k.GroupVersionKind || s.Name == policyrequest.ScaleName {
			names = append(names, s.Name)
		}
	}
	return names
}

// A BuiltinKind is a built-in kind that policies match.
type BuiltinKind struct {
	// CRD describes the kind. Release is the version of Kubernetes that it is from.
	CRD     *apiextensionsv1.CustomResourceDefinition
	Release string
	// Versions holds the versions of the kind that policies name.
	Versions map[string]*policyrequest.Builtin
	// Subresource is set if the CRD describes the objects of a subresource instead.
	Subresource *policyrequest.Subresource
}

func namesKind(rule map[string]any, k *builtin.Kind) bool {
	resources, _ := rule["resources"].([]any)
	return slices.ContainsFunc(append(ownSubresources(k), ""), func(name string) bool {
		return slices.Contains(resources, any(strings.TrimSuffix(k.Resource+"/"+name, "/")))
	})
}

// typical maps groups whose resources policies often match with * to a kind. For all groups, it is the first of general
// with the fields that the policy reads.
var (
	typical = map[string]string{"apps": "Deployment", "batch": "Job", "rbac.authorization.k8s.io": "Role"}
	general = []schema.GroupVersionKind{
		{Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Pod"}, {Group: "apps", Version: "v1", Kind: "Deployment"},
		{Version: "v1", Kind: "Service"},
	}
)

// read matches the first fields that an expression reads in an object, also through a variable such as anyObject.
var read = regexp.MustCompile(`\b\w*[oO]bject\s*\.\s*(\w+)(?:\s*\.\s*(\w+)\b)?`)

func (d *document) general(catalog *builtin.Catalog) schema.GroupKind {
	for _, gvk := range general {
		root, err := catalog.Schema(gvk)
		lacks := func(expression string) bool { return !fits(expression, root) }
		if err == nil && !slices.ContainsFunc(d.expressions(), lacks) {
			return gvk.GroupKind()
		}
	}
	return general[0].GroupKind()
}

func fits(expression string, root *apiextensionsv1.JSONSchemaProps) bool {
	for _, m := range read.FindAllStringSubmatch(expression, -1) {
		first, ok := root.Properties[m[1]]
		if _, has := first.Properties[m[2]]; !ok || m[2] != "" && len(first.Properties) > 0 && !has {
			return false
		}
	}
	return true
}

// typicalFor holds, in order, the examples for subresources of all resources, such as */scale.
var typicalFor = []struct {
	schema.GroupKind
	subresources []string
}{
	{schema.GroupKind{Group: "apps", Kind: "Deployment"}, []string{"scale", "status"}},
	{schema.GroupKind{Kind: "Pod"}, []string{"ephemeralcontainers", "resize", "status"}},
	{schema.GroupKind{Kind: "ReplicationController"}, []string{"scale"}},
}

// isTypical reports whether a kind is the example for all resources of a rule, or for a subresource of all.
func isTypical(rule map[string]any, k *builtin.Kind, general schema.GroupKind) bool {
	if has(rule, "resources", "*/*") {
		groups, _ := rule["apiGroups"].([]any)
		return k.GroupKind() == general || k.Kind == typical[k.Group] && slices.Contains(groups, any(k.Group))
	}
	resources, _ := rule["resources"].([]any)
	for _, one := range typicalFor {
		if has(rule, "apiGroups", one.Group) && slices.ContainsFunc(one.subresources, func(name string) bool {
			return slices.Contains(resources, any("*/"+name))
		}) {
			return one.GroupKind == k.GroupKind()
		}
	}
	return false
}

// Builtins returns the built-in kinds that policies with a binding among documents name and that server validates,
// and the kinds of subresources that these policies match. If wildcards is set, it uses a typical kind for *.
func Builtins(documents []map[string]any, server policyrequest.Server, wildcards bool) ([]BuiltinKind, error) {
	catalog, err := builtin.Newest()
	if err != nil {
		return nil, err
	}
	var rules []map[string]any
	var examples []schema.GroupKind // of rules
	for _, d := range documentsOf(documents) {
		of := list(object(d.fields, "matchConstraints"), "resourceRules")
		if d.bound {
			rules = append(rules, of...)
			examples = append(examples, slices.Repeat([]schema.GroupKind{d.general(catalog)}, len(of))...)
		}
	}
	all := &policyrequest.Builtins{Server: server}
	var kinds []BuiltinKind
	for _, k := range catalog.Kinds() {
		if k.Group == admissionregistrationv1.GroupName && strings.Contains(k.Kind, "AdmissionPolicy") {
			continue // servers evaluate no policy for these
		}
		more, err := subresourceKinds(catalog, all, &k, rules)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, more...)
		named := false
		for i, rule := range rules {
			matches := has(rule, "apiGroups", k.Group) && has(rule, "apiVersions", k.Version)
			names := namesKind(rule, &k) || wildcards && isTypical(rule, &k, examples[i])
			named = named || matches && names && k.Resource != ""
		}
		if !named {
			continue
		}
		kind, err := all.Kind(k.GroupVersionKind, engine.Config{})
		if err != nil {
			return nil, err
		}
		if kind == nil || !kind.Exact() {
			continue
		}
		i := slices.IndexFunc(kinds, func(b BuiltinKind) bool {
			return b.Subresource == nil && b.CRD.Spec.Group == k.Group && b.CRD.Spec.Names.Kind == k.Kind
		})
		if i < 0 {
			crd, err := catalog.CRD(k.GroupKind())
			if err != nil {
				return nil, err
			}
			if crd == nil {
				continue
			}
			i = len(kinds)
			versions := map[string]*policyrequest.Builtin{}
			kinds = append(kinds, BuiltinKind{CRD: crd, Release: catalog.Release(), Versions: versions})
		}
		kinds[i].Versions[k.Version] = kind
	}
	return kinds, nil
}
