package policyvet

import (
	"slices"
	"strings"
)

const all = "*"

// has reports whether a list of a rule contains item or "*".
func has(list []string, item string) bool {
	return slices.Contains(list, item) || slices.Contains(list, all)
}

// split splits an item of resources, such as "pods/status".
func split(item string) (resource, subresource string) {
	resource, subresource, _ = strings.Cut(item, "/")
	return resource, subresource
}

// matchesResource reports whether the rule matches a resource, or its subresource.
func (r *rule) matchesResource(group, resource, subresource string) bool {
	return has(r.APIGroups, group) && slices.ContainsFunc(r.Resources, func(item string) bool {
		res, sub := split(item)
		return (res == resource || res == all) && (sub == subresource || sub == all)
	})
}

// hasObjects reports whether the rule matches requests for whole objects, not only for subresources.
func (r *rule) hasObjects() bool {
	return slices.ContainsFunc(r.Resources, func(item string) bool {
		_, sub := split(item)
		return sub == "" || sub == all
	})
}

// covers reports whether r matches each request with the operation that other matches.
func (r *rule) covers(other *rule, operation string) bool {
	return len(r.ResourceNames) == 0 && has(r.Operations, operation) &&
		within(other.APIGroups, r.APIGroups) && within(other.APIVersions, r.APIVersions) &&
		(within(other.Resources, r.Resources) || slices.Contains(r.Resources, "*/*"))
}

// within reports whether a list of a rule matches only items that another list matches.
func within(list, other []string) bool {
	return slices.Contains(other, all) || !slices.ContainsFunc(list, func(item string) bool { return !slices.Contains(other, item) })
}

// matches reports whether m matches an operation on whole objects.
func (m *matchResources) matches(operation string) bool {
	return slices.ContainsFunc(m.ResourceRules, func(r rule) bool { return m.matchesRule(&r, operation) })
}

// matchesRule reports whether a rule of m matches an operation on whole objects, unless m excludes them.
func (m *matchResources) matchesRule(r *rule, operation string) bool {
	return has(r.Operations, operation) && r.hasObjects() &&
		!slices.ContainsFunc(m.ExcludeResourceRules, func(x rule) bool { return x.covers(r, operation) })
}

func (m *matchResources) matchesResource(operation, group, resource, subresource string) bool {
	return slices.ContainsFunc(m.ResourceRules, func(r rule) bool {
		return has(r.Operations, operation) && r.matchesResource(group, resource, subresource)
	})
}

// narrows reports whether the bindings of a policy exclude an operation on whole objects.
func bindingsExclude(bindings []*bindingDocument, operation string) bool {
	return len(bindings) > 0 && !slices.ContainsFunc(bindings, func(b *bindingDocument) bool {
		m := b.Spec.MatchResources
		return m == nil || len(m.ResourceRules) == 0 || m.matches(operation)
	})
}
