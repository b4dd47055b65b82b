package policy

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// constraints are the compiled matchConstraints of a policy, matchResources of a binding, or rules
// and selectors of a webhook.
type constraints struct {
	namespaces, objects labels.Selector
	rules, exclude      []resourceRule
	equivalent          bool // matchPolicy: Equivalent
}

// newConstraints compiles m, which is at path. The server's defaults apply to absent fields.
func newConstraints(m *matchResources, path string, report reporter) *constraints {
	c := &constraints{rules: m.ResourceRules, exclude: m.ExcludeResourceRules, equivalent: m.MatchPolicy == nil || *m.MatchPolicy == "Equivalent"}
	checkOneOf(m.MatchPolicy, path+".matchPolicy", false, report, "Exact", "Equivalent")
	c.namespaces = newSelector(m.NamespaceSelector, path+".namespaceSelector", report)
	c.objects = newSelector(m.ObjectSelector, path+".objectSelector", report)
	for i, r := range m.ResourceRules {
		r.check(fmt.Sprintf("%s.resourceRules[%d]", path, i), report)
	}
	for i, r := range m.ExcludeResourceRules {
		r.check(fmt.Sprintf("%s.excludeResourceRules[%d]", path, i), report)
	}
	return c
}

func newSelector(s *metav1.LabelSelector, path string, report reporter) labels.Selector {
	if s == nil {
		return labels.Everything()
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		report(path, "invalid selector: "+err.Error())
		return labels.Nothing()
	}
	return selector
}

func (r *resourceRule) check(path string, report reporter) {
	for _, list := range []struct {
		field string
		items []string
	}{{"operations", r.Operations}, {"apiGroups", r.APIGroups}, {"apiVersions", r.APIVersions}, {"resources", r.Resources}} {
		switch {
		case len(list.items) == 0:
			report(path+"."+list.field, "the list is empty, so the rule matches nothing: name what it matches, or use \"*\"")
		case len(list.items) > 1 && slices.Contains(list.items, "*") && list.field != "resources":
			report(path+"."+list.field, "\"*\" must be the only item")
		}
	}
	if problem := resourcesProblem(r.Resources); problem != "" {
		report(path+".resources", problem)
	}
	for _, op := range r.Operations {
		checkOneOf(&op, path+".operations", false, report, "CREATE", "UPDATE", "DELETE", "CONNECT", "*")
	}
	checkOneOf(r.Scope, path+".scope", false, report, "Cluster", "Namespaced", "*")
}

func resourcesProblem(items []string) string {
	wildcards := map[string]bool{} // with subresources, such as pods/* and */status
	plain := false
	for _, item := range items {
		res, sub, nested := strings.Cut(item, "/")
		switch {
		case item == "":
			return "an item is empty"
		case !nested:
			plain = item != "*"
		case wildcards[res+"/*"]:
			return fmt.Sprintf("%q includes %q: remove one", res+"/*", item)
		case wildcards["*/"+sub]:
			return fmt.Sprintf("%q includes %q: remove one", "*/"+sub, item)
		}
		if nested && (res == "*" || sub == "*") {
			wildcards[item] = true
		}
	}
	switch {
	case len(items) > 1 && slices.Contains(items, "*/*"):
		return "\"*/*\" must be the only item"
	case plain && slices.Contains(items, "*"):
		return "\"*\" includes all resources: remove the others, except those with subresources"
	}
	return ""
}

var namespacesResource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

func (r *resourceRule) matches(req *Request, resource schema.GroupVersionResource) bool {
	return r.matchesScope(req, resource) && hasOrAll(r.Operations, string(req.Operation)) && hasOrAll(r.APIGroups, resource.Group) &&
		hasOrAll(r.APIVersions, resource.Version) && r.matchesResource(resource.Resource, req.Subresource)
}

func hasOrAll(items []string, item string) bool {
	return slices.Contains(items, "*") || slices.Contains(items, item)
}

// matchesScope treats a Namespace as not namespaced, although the namespace of a request for it is its name.
func (r *resourceRule) matchesScope(req *Request, resource schema.GroupVersionResource) bool {
	if r.Scope == nil || *r.Scope == "*" {
		return true
	}
	cluster := resource == namespacesResource || req.Namespace == ""
	return cluster == (*r.Scope == "Cluster")
}

func (r *resourceRule) matchesResource(resource, subresource string) bool {
	return slices.ContainsFunc(r.Resources, func(pattern string) bool {
		res, sub, _ := strings.Cut(pattern, "/")
		return (res == "*" || res == resource) && (sub == "*" || sub == subresource)
	})
}

func (r *resourceRule) matchesName(name string) bool {
	return len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, name)
}

// matches returns nil for the request's own version. The error names the unknown Namespace that a selector needs; ok
// then reports whether everything else matches.
func (c *constraints) matches(s *situation) (to *Equivalent, ok bool, err error) {
	ok, namespaceErr := c.matchesNamespace(s)
	if !ok && namespaceErr == nil || !c.matchesObject(s) {
		return nil, false, nil
	}
	if _, excluded := c.find(c.exclude, s.req); excluded {
		return nil, false, nil
	}
	if len(c.rules) > 0 {
		if to, ok = c.find(c.rules, s.req); !ok {
			return nil, false, nil
		}
	}
	return to, true, namespaceErr
}

// unmatched names a part of the constraints of a webhook that does not match.
func (c *constraints) unmatched(s *situation) string {
	if _, ok := c.find(c.rules, s.req); !ok {
		return "rules"
	}
	if !c.matchesObject(s) {
		return "objectSelector"
	}
	return "namespaceSelector"
}

// find returns a nil version for the requested resource.
func (c *constraints) find(rules []resourceRule, req *Request) (to *Equivalent, ok bool) {
	for i := range rules {
		if r := &rules[i]; r.matches(req, req.Resource) && r.matchesName(req.Name) {
			return nil, true
		}
	}
	if !c.equivalent {
		return nil, false
	}
	for i := range rules {
		for j := range req.Equivalents {
			e := &req.Equivalents[j]
			if r := &rules[i]; e.Resource != req.Resource && r.matches(req, e.Resource) && r.matchesName(req.Name) {
				return e, true
			}
		}
	}
	return nil, false
}

func (c *constraints) matchesNamespace(s *situation) (bool, error) {
	if c.namespaces.Empty() || s.req.Namespace == "" && s.req.Resource.Resource != "namespaces" {
		return true, nil
	}
	if set, known := s.namespaceLabels(); known {
		return c.namespaces.Matches(set), nil
	}
	requirements, _ := c.namespaces.Requirements()
	var err error
	for _, r := range requirements {
		switch {
		case r.Key() != nameLabel:
			err = fmt.Errorf("namespaceSelector needs the Namespace %s, which is not among the documents: add it", s.req.Namespace)
		case !r.Matches(labels.Set{nameLabel: s.req.Namespace}): // a server adds this label to each Namespace
			return false, nil
		}
	}
	return err == nil, err
}

// matchesObject reports whether the selector matches the object or the old object. Only an empty selector matches a
// connection whose object has no metadata, such as PodExecOptions.
func (c *constraints) matchesObject(s *situation) bool {
	switch {
	case c.objects.Empty():
		return true
	case s.req.Operation == OperationConnect && s.req.Object["metadata"] == nil:
		return false
	}
	return s.req.Object != nil && c.objects.Matches(objectLabels(s.req.Object)) ||
		s.req.OldObject != nil && c.objects.Matches(objectLabels(s.req.OldObject))
}

// objectLabels ignores all labels if one is not a string, like the server.
func objectLabels(object map[string]any) labels.Set {
	meta, _ := object["metadata"].(map[string]any)
	set, err := labelsOf(meta)
	if err != nil {
		return nil
	}
	return set
}
