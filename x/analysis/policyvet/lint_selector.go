package policyvet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/celadon-cel/celadon/internal/text/spell"
)

func selectors(path string, m *matchResources, add reporter) {
	for _, one := range []struct {
		field    string
		selector *metav1.LabelSelector
	}{{"namespaceSelector", m.NamespaceSelector}, {"objectSelector", m.ObjectSelector}} {
		if one.selector == nil {
			continue
		}
		if key := contradiction(one.selector); key != "" {
			add(emptySelector, Lint{Path: path + "." + one.field}, "the selector matches nothing, because its requirements for the label "+key+" contradict each other: remove one of them")
		}
	}
}

func contradiction(s *metav1.LabelSelector) string {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return "" // compiling reports it
	}
	byKey := map[string]labels.Requirements{}
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		byKey[r.Key()] = append(byKey[r.Key()], r)
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		examples := []labels.Labels{labels.Set{}, labels.Set{key: "\x00"}} // a value that no requirement has
		for _, r := range byKey[key] {
			for value := range r.Values() {
				examples = append(examples, labels.Set{key: value})
			}
		}
		if !slices.ContainsFunc(examples, labels.NewSelector().Add(byKey[key]...).Matches) {
			return key
		}
	}
	return ""
}

// resources checks only built-in groups, because only these are known completely.
func (l *linter) resources(path string, rules []rule, add reporter) {
	for i := range rules {
		r := &rules[i]
		if slices.ContainsFunc(r.APIGroups, func(g string) bool { return !l.schemas.groups[g] }) || len(r.APIGroups) == 0 {
			continue
		}
		for j, item := range r.Resources {
			if problem := l.schemas.missing(r.APIGroups, item); problem != "" {
				add(unknownResource, Lint{Path: fmt.Sprintf("%s[%d].resources[%d]", path, i, j)}, problem)
			}
		}
	}
}

// exempt lists the resources for which servers evaluate no policies.
var exempt = []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"}

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
			subs = slices.AppendSeq(subs, maps.Keys(k.subresources))
		} else {
			elsewhere = append(elsewhere, groupText(k.Group))
		}
	}
	slices.Sort(subs)
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
