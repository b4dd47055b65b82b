package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/types"
)

type aRule = apiextensionsv1.ValidationRule

// A match is an old rule and the new rule that replaces it. Either may be nil.
type match struct {
	old, new   *aRule
	oldI, newI int
	// same is set if the expressions are equal apart from their formatting.
	same bool
}

// rules compares the rules at a path. They are matched by source, then as expressions, then by
// their messages.
func (w *walker) rules(at schemaPath, o, n *props) {
	for _, m := range matched(o.XValidations, n.XValidations) {
		if m.same {
			w.reworded(at, m)
		} else {
			w.rule(at, m, o, n)
		}
	}
}

func (w *walker) rule(at schemaPath, m match, o, n *props) {
	var breaks, loosens *goal
	old, new := "", ""
	oldKey, newKey := ".x-kubernetes-validations", ".x-kubernetes-validations"
	if m.new != nil {
		breaks = &goal{at: at, rule: m.new.Rule, from: m.new, schema: n, index: m.newI}
		new, newKey = m.new.Rule, fmt.Sprintf("%s[%d]", newKey, m.newI)
	}
	if m.old != nil {
		loosens = &goal{at: at, rule: m.old.Rule, from: m.old, schema: o, index: m.oldI}
		old, oldKey = m.old.Rule, fmt.Sprintf("%s[%d]", oldKey, m.oldI)
	}
	ch := w.add(at, "", "rule", old, new, breaks, loosens)
	ch.OldField, ch.NewField = at.oldField+oldKey, at.newField+newKey
}

// reworded adds a change for a rule whose expression is the same but whose source or messages may
// differ.
func (w *walker) reworded(at schemaPath, m match) {
	if userTexts(m.old) == userTexts(m.new) && m.old.Rule == m.new.Rule {
		return
	}
	subject, old, new := "message", userTexts(m.old), userTexts(m.new)
	if old == new {
		subject, old, new = "rule", m.old.Rule, m.new.Rule
	}
	ch := w.add(at, "", subject, old, new, nil, nil)
	ch.OldField = fmt.Sprintf("%s.x-kubernetes-validations[%d]", at.oldField, m.oldI)
	ch.NewField = fmt.Sprintf("%s.x-kubernetes-validations[%d]", at.newField, m.newI)
	ch.Effect, ch.By, ch.Proof = Equivalent, ByProof, "the same expression"
}

func userTexts(r *aRule) string {
	var parts []string
	for _, p := range []struct{ name, text string }{
		{"message", r.Message}, {"messageExpression", r.MessageExpression}, {"fieldPath", r.FieldPath},
	} {
		if p.text != "" {
			parts = append(parts, p.name+": "+p.text)
		}
	}
	if r.Reason != nil {
		parts = append(parts, "reason: "+string(*r.Reason))
	}
	return strings.Join(parts, "\n")
}

func optional(r *aRule) bool { return r.OptionalOldSelf != nil && *r.OptionalOldSelf }

func matched(old, new []aRule) (all []match) {
	taken := map[int]bool{} // of old
	partner := make([]int, len(new))
	for i := range partner {
		partner[i] = -1
	}
	pass := func(alike func(o, n *aRule) bool) {
		for i := range new {
			for j := range old {
				if partner[i] < 0 && !taken[j] && alike(&old[j], &new[i]) {
					partner[i], taken[j] = j, true
				}
			}
		}
	}
	expressions := normal{}
	alike := func(o, n *aRule) bool {
		return expressions.of(o.Rule) == expressions.of(n.Rule) && optional(o) == optional(n)
	}
	pass(func(o, n *aRule) bool {
		return o.Rule == n.Rule && optional(o) == optional(n) && userTexts(o) == userTexts(n)
	})
	pass(func(o, n *aRule) bool { return o.Rule == n.Rule && optional(o) == optional(n) })
	pass(alike)
	pass(func(o, n *aRule) bool { return o.Message+o.MessageExpression != "" && userTexts(o) == userTexts(n) })
	pass(func(o, n *aRule) bool { return o.Message != "" && o.Message == n.Message })
	left, right := unpaired(partner, len(old), taken)
	if len(left) == 1 && len(right) == 1 && old[left[0]].Message == new[right[0]].Message {
		partner[right[0]] = left[0]
		taken[left[0]] = true
	}
	for i := range new {
		m := match{new: &new[i], newI: i}
		if j := partner[i]; j >= 0 {
			m.old, m.oldI, m.same = &old[j], j, alike(&old[j], &new[i])
		}
		all = append(all, m)
	}
	for j := range old {
		if !taken[j] {
			all = append(all, match{old: &old[j], oldI: j})
		}
	}
	return all
}

func unpaired(partner []int, olds int, taken map[int]bool) (left, right []int) {
	for j := range olds {
		if !taken[j] {
			left = append(left, j)
		}
	}
	for i, j := range partner {
		if j < 0 {
			right = append(right, i)
		}
	}
	return left, right
}

// normal caches normalized expressions.
type normal map[string]string

func (n normal) of(text string) string {
	if known, ok := n[text]; ok {
		return known
	}
	n[text] = normalized(text)
	return n[text]
}

// plain returns an environment for parsing. It declares no variables.
var plain = sync.OnceValues(func() (*cel.Env, error) { return celenv.StoredRules(types.Version{Minor: types.Newest}).With(nil) })

// normalized returns an expression without differences in white space, comments, parentheses, and
// quotes. It returns text itself if it does not parse.
func normalized(text string) string {
	env, err := plain()
	if err != nil {
		return text
	}
	tree, err := celenv.Parse(env, text)
	if err != nil {
		return text
	}
	out, err := cel.AstToString(tree)
	if err != nil {
		return text
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func sortedSet(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}
