package markers

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Rule is a rule of a CRD and the marker from which it was made.
type Rule struct {
	// Version is the version of the CRD. Field is the path of the rule in the CRD, such as
	// spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].
	Version, Field string
	Text           string
	// Marker is nil if no marker matches the rule.
	Marker *Marker
	// Others holds markers with the same text that match as well.
	Others []*Marker
	// Missing is the import path of a package that could not be read and may contain the marker, or "".
	Missing string
}

// Map holds the rules of a CRD.
type Map struct {
	Rules []Rule
	// Rooted reports whether the given packages declare the kind of the CRD.
	Rooted  bool
	byField map[string]int
}

// Rule returns the rule at a path in the CRD, or at the nearest enclosing path, or nil.
func (m *Map) Rule(field string) *Rule {
	for {
		if i, ok := m.byField[field]; ok {
			return &m.Rules[i]
		}
		i := strings.LastIndexByte(field, '.')
		if i < 0 {
			return nil
		}
		field = field[:i]
	}
}

// Map finds the markers of a CRD's rules.
func (s *Source) Map(crd *apiextensionsv1.CustomResourceDefinition) *Map {
	m := &Map{byField: map[string]int{}}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		t := s.root(crd, v.Name)
		if t != nil {
			s.roots[t], m.Rooted = true, true
		}
		if root := branches(step{schema: v.Schema.OpenAPIV3Schema}); root != nil {
			w := &walker{m, s, v.Name}
			w.walk(s.rootSpot(t), schemaPath(i), root)
		}
	}
	return m
}

type walker struct {
	*Map
	src     *Source
	version string
}

func (w *walker) walk(at spot, path string, here *branch) {
	w.match(at, path, here)
	for _, by := range here.below {
		w.walk(w.src.below(at, by.step), path+by.step.below, by)
	}
}

// match finds the markers of the rules of a schema node: a marker of the node with the rule's
// text or, if the node's types are unknown, any marker with that text.
func (w *walker) match(at spot, path string, here *branch) {
	taken, first := map[*Marker]bool{}, len(w.Rules)
	for i := range here.schema.XValidations {
		rule := &here.schema.XValidations[i]
		r := Rule{Version: w.version, Field: fmt.Sprintf("%s.x-kubernetes-validations[%d]", path, i), Text: rule.Rule}
		if r.Marker = best(at.alike(rule.Rule), taken, rule); r.Marker != nil {
			taken[r.Marker] = true
		} else if at.unknown {
			if r.Marker, r.Others = w.src.byText(rule, here.name); r.Marker == nil {
				r.Missing = at.missing
			}
		}
		w.byField[r.Field] = len(w.Rules)
		w.Rules = append(w.Rules, r)
	}
	for i := first; i < len(w.Rules); i++ {
		w.Rules[i].addOthers(at.alike(w.Rules[i].Text), taken)
	}
}

// addOthers adds the node's other markers with the same text and message to r, and records that all
// these markers are used by a CRD.
func (r *Rule) addOthers(alike []*Marker, taken map[*Marker]bool) {
	if r.Marker == nil {
		return
	}
	for _, m := range alike {
		if taken[r.Marker] && !taken[m] && m.Argument("message") == r.Marker.Argument("message") {
			r.Others = append(r.Others, m)
		}
	}
	r.Marker.used = true
	for _, m := range r.Others {
		m.used = true
	}
}

// best returns the first marker that is not taken, preferably with the rule's message. If all are taken, it returns
// the first, because a type that is inlined twice has its rules twice. It returns nil if alike is empty.
func best(alike []*Marker, taken map[*Marker]bool, rule *apiextensionsv1.ValidationRule) (first *Marker) {
	for _, m := range alike {
		switch {
		case taken[m]:
		case m.Made != "" || m.Argument("message") == rule.Message && m.Argument("messageExpression") == rule.MessageExpression:
			return m
		case first == nil:
			first = m
		}
	}
	if first == nil && len(alike) > 0 {
		first = alike[0]
	}
	return first
}

// byText returns the markers of the given packages with a rule's text, and narrows them first to
// markers with its message and then to markers of a field with this name.
func (s *Source) byText(rule *apiextensionsv1.ValidationRule, name string) (*Marker, []*Marker) {
	all := s.byRule[rule.Rule]
	all = all[:min(len(all), maxAlike)]
	narrow := func(ok func(*Marker) bool) {
		var some []*Marker
		for _, m := range all {
			if ok(m) {
				some = append(some, m)
			}
		}
		if len(some) > 0 {
			all = some
		}
	}
	narrow(func(m *Marker) bool { return m.Argument("message") == rule.Message })
	narrow(func(m *Marker) bool { return strings.EqualFold(m.Field, name) })
	if len(all) == 0 {
		return nil, nil
	}
	return all[0], slices.Clone(all[1:])
}

// maxAlike limits how many markers with the same text are considered for a node.
const maxAlike = 1000

// markerSet holds the markers of a type or field that may make rules, by the text of the rule.
type markerSet map[ruleKey][]*Marker

type ruleKey struct {
	rule  string
	items bool
}

// newSet returns nil if list is empty.
func newSet(list []*Marker) (s markerSet) {
	if len(list) > 0 {
		s = markerSet{}
	}
	for _, m := range list {
		if k := (ruleKey{m.Rule(), m.items}); m.misplaced() == "" {
			s[k] = append(s[k], m)
		}
	}
	return s
}

func (at *spot) alike(rule string) (all []*Marker) {
	add := func(more []*Marker) { all = append(all, more[:min(len(more), maxAlike-len(all))]...) }
	for _, s := range at.sets {
		add(s[ruleKey{rule, false}])
	}
	for _, s := range at.above {
		add(s[ruleKey{rule, true}])
	}
	return all
}

func (at *spot) add(s markerSet) {
	if s != nil {
		at.sets = append(at.sets, s)
	}
}
