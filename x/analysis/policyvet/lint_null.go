package policyvet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

type nullCase struct{ operation, null, other string }

var nullCases = []nullCase{{"DELETE", objectName, oldObjectName}, {"CREATE", oldObjectName, objectName}}

// nullObject reports expressions that can fail because they read object or oldObject where it is null. No mutating
// policy sees a DELETE.
func (l *linter) nullObject(s *subject, bindings []*bindingDocument, add reporter) {
	for _, c := range nullCases {
		if c.operation == "DELETE" && s.kind == mutatingKind || !s.match.matches(c.operation) || bindingsExclude(bindings, c.operation) {
			continue
		}
		var failing []*expression
		for _, known := range l.facts(&s.match, c) {
			if failing = s.failing(c, known); len(failing) > 0 {
				break
			}
		}
		if len(failing) == 0 {
			continue
		}
		x, more := failing[0], ""
		if n := len(failing) - 1; n > 0 {
			more = " (also in " + phrase.Count(n, "more expression") + ")"
		}
		effect := "the request is denied"
		if s.ignore {
			effect = "the policy is ignored"
		}
		add(nullObject, x.at(nil), fmt.Sprintf("%s matches, where %s is null: reading it fails%s, and %s; test %s != null, use %s, or add the matchCondition request.operation != '%s'",
			c.operation, c.null, more, effect, c.null, c.other, c.operation))
	}
}

const maxFacts = 32

// facts returns known strings by path, for each resource that a rule names. If a rule matches all resources or there
// are too many, only the operation is known.
func (l *linter) facts(m *matchResources, c nullCase) (list []map[string]string) {
	seen := map[string]bool{}
	for i := range m.ResourceRules {
		r := &m.ResourceRules[i]
		if !m.matchesRule(r, c.operation) {
			continue
		}
		for _, item := range r.Resources {
			resource, sub := split(item)
			switch {
			case sub != "" && sub != all:
			case resource == all || len(list) == maxFacts:
				return []map[string]string{{"request.operation": c.operation}}
			case !seen[resource]:
				seen[resource] = true
				known := map[string]string{"request.operation": c.operation, "request.resource.resource": resource}
				if kind := l.schemas.kindOf(resource); kind != "" {
					known["request.kind.kind"], known[c.other+".kind"] = kind, kind
				}
				list = append(list, known)
			}
		}
	}
	return list
}

// kindOf returns "" if the kind is not known or differs between groups.
func (s *Schemas) kindOf(resource string) (name string) {
	for _, k := range s.byResource[resource] {
		if name != "" && k.Kind != name {
			return ""
		}
		name = k.Kind
	}
	return name
}

// failing returns the expressions that can fail because a root is null. Messages cannot, because the
// server uses another message then.
func (s *subject) failing(c nullCase, known map[string]string) (list []*expression) {
	n := newEvaluator(s, c.null, known)
	var conditions []*expression
	for _, x := range s.expressions {
		if x.Part != policy.PartCondition || x.tree == nil {
			continue
		}
		switch v := n.top(x); {
		case v.set == isFalse:
			return nil // the policy is skipped
		case v.set&isError != 0:
			conditions = append(conditions, x)
		}
	}
	if len(conditions) > 0 {
		return conditions
	}
	for _, x := range s.expressions {
		if x.Part != policy.PartVariable && x.Part != policy.PartCondition && x.Part != policy.PartMessage && x.tree != nil && n.top(x).set&isError != 0 {
			list = append(list, x)
		}
	}
	return list
}

const all = "*"

func has(list []string, item string) bool {
	return slices.Contains(list, item) || slices.Contains(list, all)
}

func split(item string) (resource, subresource string) {
	resource, subresource, _ = strings.Cut(item, "/")
	return resource, subresource
}

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

// covers reports whether r matches each request for whole objects with the operation that other matches.
func (r *rule) covers(other *rule, operation string) bool {
	return len(r.ResourceNames) == 0 && has(r.Operations, operation) &&
		within(other.APIGroups, r.APIGroups) && within(other.APIVersions, r.APIVersions) &&
		(within(other.Resources, r.Resources) || slices.Contains(r.Resources, "*/*"))
}

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

func bindingsExclude(bindings []*bindingDocument, operation string) bool {
	return len(bindings) > 0 && !slices.ContainsFunc(bindings, func(b *bindingDocument) bool {
		m := b.Spec.MatchResources
		return m == nil || len(m.ResourceRules) == 0 || m.matches(operation)
	})
}
