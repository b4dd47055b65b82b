package policyvet

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/internal/text/spell"
)

// selectors reports label selectors that no labels match.
func selectors(path string, m *matchResources, add reporter) {
	for _, one := range []struct {
		field    string
		selector *metav1.LabelSelector
	}{{"namespaceSelector", m.NamespaceSelector}, {"objectSelector", m.ObjectSelector}} {
		if one.selector == nil {
			continue
		}
		if key := contradiction(one.selector); key != "" {
			add(emptySelector, place{path: path + "." + one.field}, "the selector matches nothing, because its requirements for the label "+key+" contradict each other: remove one of them")
		}
	}
}

// A labelNeed collects the requirements for a label.
type labelNeed struct {
	present, absent bool
	values          []string // any of these, if limited
	limited         bool
	not             []string
}

// contradiction returns the first label whose requirements contradict each other, or "".
func contradiction(s *metav1.LabelSelector) string {
	needs := map[string]*labelNeed{}
	need := func(key string) *labelNeed {
		if needs[key] == nil {
			needs[key] = &labelNeed{}
		}
		return needs[key]
	}
	for key, value := range s.MatchLabels {
		need(key).limit([]string{value})
	}
	for _, r := range s.MatchExpressions {
		n := need(r.Key)
		switch r.Operator {
		case metav1.LabelSelectorOpIn:
			n.limit(r.Values)
		case metav1.LabelSelectorOpNotIn:
			n.not = append(n.not, r.Values...)
		case metav1.LabelSelectorOpExists:
			n.present = true
		case metav1.LabelSelectorOpDoesNotExist:
			n.absent = true
		}
	}
	first := ""
	for key, n := range needs {
		if n.impossible() && (first == "" || key < first) {
			first = key
		}
	}
	return first
}

func (n *labelNeed) limit(values []string) {
	if n.limited {
		values = slices.DeleteFunc(slices.Clone(n.values), func(v string) bool { return !slices.Contains(values, v) })
	}
	n.values, n.limited, n.present = values, true, true
}

func (n *labelNeed) impossible() bool {
	return n.present && n.absent || n.limited && !slices.ContainsFunc(n.values, func(v string) bool { return !slices.Contains(n.not, v) })
}

// resources reports resources that do not exist in any of the groups of a rule. Only built-in groups are
// known completely.
func (l *linter) resources(path string, rules []rule, add reporter) {
	for i := range rules {
		r := &rules[i]
		if slices.ContainsFunc(r.APIGroups, func(g string) bool { return !l.schemas.groups[g] }) || len(r.APIGroups) == 0 {
			continue
		}
		for j, item := range r.Resources {
			if problem := l.schemas.missing(r.APIGroups, item); problem != "" {
				add(unknownResource, place{path: fmt.Sprintf("%s[%d].resources[%d]", path, i, j)}, problem)
			}
		}
	}
}

// exempt lists the resources for which servers evaluate no policies.
var exempt = []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"}

// missing returns the reason why an item of resources matches nothing in the given built-in groups, or
// "".
func (s *Schemas) missing(groups []string, item string) string {
	resource, sub := split(item)
	switch {
	case resource == all:
		return ""
	case slices.Equal(groups, []string{apiGroup}) && slices.Contains(exempt, resource):
		return "servers evaluate no policy and call no webhook for " + resource + ", so this matches nothing"
	}
	var subs, elsewhere []string
	found := false
	for _, k := range s.byResource[resource] {
		if slices.Contains(groups, k.Group) {
			found = true
			subs = append(subs, k.subresources...)
		} else {
			elsewhere = append(elsewhere, groupText(k.Group))
		}
	}
	switch {
	case found && (sub == "" || sub == all || slices.Contains(subs, sub)):
		return ""
	case found:
		return fmt.Sprintf("%s has no subresource %s, so this matches nothing%s", resource, sub, suggestion(sub, subs))
	case len(elsewhere) > 0:
		return fmt.Sprintf("no resource %s is in %s, so this matches nothing: it is in %s", resource, groupsText(groups), strings.Join(slices.Compact(elsewhere), ", "))
	}
	return fmt.Sprintf("no resource %s is in %s, so this matches nothing%s", resource, groupsText(groups), s.similar(resource, groups))
}

// similar suggests a resource in the given groups, or else in any group.
func (s *Schemas) similar(name string, groups []string) string {
	var inside, anywhere []string
	for resource, kinds := range s.byResource {
		anywhere = append(anywhere, resource)
		if slices.ContainsFunc(kinds, func(k *kind) bool { return slices.Contains(groups, k.Group) }) {
			inside = append(inside, resource)
		}
	}
	slices.Sort(inside)
	if text := suggestion(name, inside); text != "" {
		return text
	}
	slices.Sort(anywhere)
	near := spell.Nearest(strings.ToLower(name), anywhere)
	if near == "" {
		return ""
	}
	return ": did you mean " + near + " in " + groupText(s.byResource[near][0].Group) + "?"
}

func suggestion(name string, known []string) string {
	if near := spell.Nearest(strings.ToLower(name), known); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}

func groupText(group string) string {
	if group == "" {
		return `the core group ("")`
	}
	return "the group " + group
}

func groupsText(groups []string) string {
	texts := make([]string, len(groups))
	for i, g := range groups {
		texts[i] = groupText(g)
	}
	return strings.Join(texts, " or ")
}
