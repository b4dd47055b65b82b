package requests

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine/policy"
)

type document struct {
	kind, name  string
	fields      map[string]any // spec
	validations []string
	mutations   []string
	variables   map[string]string
	conditions  []string
	hasParams   bool
	bound       bool             // by a binding
	selectors   []map[string]any // object selectors, also of bindings
	namespaces  []string         // names in namespace selectors, also of bindings
	words       []string         // in namespace selectors and names of resources, also of bindings
	params      []map[string]any
}

func documentsOf(documents []map[string]any) (policies []*document) {
	for _, doc := range documents {
		kind := text(doc, "kind")
		if kind != "ValidatingAdmissionPolicy" && kind != "MutatingAdmissionPolicy" {
			continue
		}
		spec := object(doc, "spec")
		d := &document{kind: kind, name: text(object(doc, "metadata"), "name"), fields: spec, variables: map[string]string{}, hasParams: spec["paramKind"] != nil}
		for _, v := range list(spec, "validations") {
			d.validations = append(d.validations, text(v, "expression"))
		}
		for _, m := range list(spec, "mutations") {
			d.mutations = append(d.mutations, text(object(m, "applyConfiguration"), "expression")+text(object(m, "jsonPatch"), "expression"))
		}
		for _, v := range list(spec, "variables") {
			d.variables[text(v, "name")] = text(v, "expression")
		}
		for _, c := range list(spec, "matchConditions") {
			d.conditions = append(d.conditions, text(c, "expression"))
		}
		d.bind(documents)
		policies = append(policies, d)
	}
	return policies
}

// usePolicies selects the policies that have a binding and match the resource.
func (f *Finder) usePolicies() {
	f.policies = nil
	active := map[[2]string]bool{}
	for _, info := range f.cfg.Set.Policies() {
		active[[2]string{info.Kind, info.Name}] = len(info.Bindings) > 0
	}
	for _, d := range documentsOf(f.cfg.Documents) {
		if active[[2]string{d.kind, d.name}] && len(f.forms(d)) > 0 {
			f.policies = append(f.policies, d)
		}
	}
}

func (d *document) expressions() []string {
	return slices.Concat(d.validations, d.mutations, d.conditions, slices.Sorted(maps.Values(d.variables)))
}

// DefinesParams reports whether a CRD defines the params of policies, and no policy names its resource.
func DefinesParams(documents []map[string]any, crd *apiextensionsv1.CustomResourceDefinition) (is bool) {
	for _, d := range documentsOf(documents) {
		kind := object(d.fields, "paramKind")
		is = is || schema.FromAPIVersionAndKind(text(kind, "apiVersion"), text(kind, "kind")).GroupKind() == schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}
		for _, rule := range list(object(d.fields, "matchConstraints"), "resourceRules") {
			if named, _ := rule["resources"].([]any); slices.Contains(named, any(crd.Spec.Names.Plural)) {
				return false
			}
		}
	}
	return is
}

func (d *document) bindings(documents []map[string]any) (all []map[string]any) {
	for _, doc := range documents {
		if doc["kind"] == d.kind+"Binding" && text(object(doc, "spec"), "policyName") == d.name {
			all = append(all, doc)
		}
	}
	return all
}

func (d *document) bind(documents []map[string]any) {
	add := func(constraints map[string]any) {
		d.selectors = append(d.selectors, object(constraints, "objectSelector"))
		selector := object(constraints, "namespaceSelector")
		d.words = stringsIn(selector, d.words)
		for _, rule := range append(list(constraints, "resourceRules"), list(constraints, "excludeResourceRules")...) {
			d.words = stringsIn(rule["resourceNames"], d.words)
		}
		d.namespaces = append(d.namespaces, text(object(selector, "matchLabels"), corev1.LabelMetadataName))
		for _, one := range list(selector, "matchExpressions") {
			if values, _ := one["values"].([]any); len(values) > 0 && text(one, "key") == corev1.LabelMetadataName && text(one, "operator") == string(metav1.LabelSelectorOpIn) {
				name, _ := values[0].(string)
				d.namespaces = append(d.namespaces, name)
			}
		}
	}
	add(object(d.fields, "matchConstraints"))
	for _, b := range d.bindings(documents) {
		spec := object(b, "spec")
		d.bound = true
		add(object(spec, "matchResources"))
		kind, name := object(d.fields, "paramKind"), text(object(spec, "paramRef"), "name")
		for _, candidate := range documents {
			if name != "" && candidate["kind"] == kind["kind"] && candidate["apiVersion"] == kind["apiVersion"] && text(object(candidate, "metadata"), "name") == name {
				d.params = append(d.params, candidate)
			}
		}
	}
}

type form struct {
	operation   policy.Operation
	subresource string
}

// matches also accepts rules for the resource in the given versions.
func (one form) matches(rule map[string]any, resource schema.GroupVersionResource, versions []string) bool {
	return has(rule, "operations", string(one.operation)) && has(rule, "apiGroups", resource.Group) &&
		has(rule, "apiVersions", append(versions, resource.Version)...) && one.among(rule, resource.Resource)
}

func (one form) among(rule map[string]any, resource string) bool {
	if one.subresource == "" {
		return has(rule, "resources", resource, "*/*")
	}
	named, _ := rule["resources"].([]any)
	return slices.ContainsFunc([]string{resource, "*"}, func(name string) bool {
		return slices.Contains(named, any(name+"/"+one.subresource)) || slices.Contains(named, any(name+"/*"))
	})
}

func has(rule map[string]any, field string, items ...string) bool {
	all, _ := rule[field].([]any)
	return slices.ContainsFunc(all, func(v any) bool {
		s, _ := v.(string)
		return s == "*" || slices.Contains(items, s)
	})
}

func object(in map[string]any, field string) map[string]any {
	out, _ := in[field].(map[string]any)
	return out
}

func list(in map[string]any, field string) (items []map[string]any) {
	all, _ := in[field].([]any)
	for _, v := range all {
		item, _ := v.(map[string]any)
		items = append(items, item)
	}
	return items
}

func text(in map[string]any, field string) string {
	s, _ := in[field].(string)
	return strings.TrimSpace(s)
}
