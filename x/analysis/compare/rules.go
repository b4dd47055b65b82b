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

// Rules are matched by source, then as expressions, then by their messages.
func (w *walker) rules(at schemaPath, o, n *props) {
	for _, m := range matched(o.XValidations, n.XValidations) {
		subject, old, new := "rule", "", ""
		oldKey, newKey := ".x-kubernetes-validations", ".x-kubernetes-validations"
		var breaks, loosens *goal
		if m.new != nil {
			breaks = &goal{at: at, rule: m.new.Rule, from: m.new, index: m.newI}
			new, newKey = m.new.Rule, fmt.Sprintf("%s[%d]", newKey, m.newI)
		}
		if m.old != nil {
			loosens = &goal{at: at, rule: m.old.Rule, from: m.old, index: m.oldI}
			old, oldKey = m.old.Rule, fmt.Sprintf("%s[%d]", oldKey, m.oldI)
		}
		if m.same {
			breaks, loosens = nil, nil
			if before, after := userTexts(m.old), userTexts(m.new); before != after {
				subject, old, new = "message", before, after
			} else if old == new {
				continue
			}
		}
		ch := w.add(at, "", subject, old, new, breaks, loosens)
		ch.OldField, ch.NewField = at.oldField+oldKey, at.newField+newKey
		if m.same {
			ch.Effect, ch.By, ch.Proof = Equivalent, ByProof, "the same expression"
		}
	}
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

func matched(old, new []aRule) []match {
	all, taken, left := make([]match, len(new)), make([]bool, len(old)), [2]int{len(old), len(new)}
	pass := func(alike func(o, n *aRule) bool) {
		for i := range new {
			for j := range old {
				if all[i].old == nil && !taken[j] && alike(&old[j], &new[i]) {
					all[i].old, all[i].oldI, taken[j] = &old[j], j, true
					left[0], left[1] = left[0]-1, left[1]-1
				}
			}
		}
	}
	expressions := map[string]string{}
	expression := func(text string) string {
		if _, ok := expressions[text]; !ok {
			expressions[text] = normalized(text)
		}
		return expressions[text]
	}
	alike := func(o, n *aRule) bool {
		return expression(o.Rule) == expression(n.Rule) && optional(o) == optional(n)
	}
	pass(func(o, n *aRule) bool {
		return o.Rule == n.Rule && optional(o) == optional(n) && userTexts(o) == userTexts(n)
	})
	pass(func(o, n *aRule) bool { return o.Rule == n.Rule && optional(o) == optional(n) })
	pass(alike)
	pass(func(o, n *aRule) bool { return o.Message+o.MessageExpression != "" && userTexts(o) == userTexts(n) })
	pass(func(o, n *aRule) bool { return o.Message != "" && o.Message == n.Message })
	if left == [2]int{1, 1} {
		pass(func(o, n *aRule) bool { return o.Message == n.Message })
	}
	for i := range all {
		m := &all[i]
		m.new, m.newI = &new[i], i
		m.same = m.old != nil && alike(m.old, m.new)
	}
	for j := range old {
		if !taken[j] {
			all = append(all, match{old: &old[j], oldI: j})
		}
	}
	return all
}

var plain = sync.OnceValues(func() (*cel.Env, error) { return celenv.StoredRules(types.Version{Minor: types.Newest}).With(nil) })

func parsed(text string) (*cel.Ast, error) {
	env, err := plain()
	if err != nil {
		return nil, err
	}
	return celenv.Parse(env, text)
}

// normalized makes expressions that differ only in their formatting equal.
func normalized(text string) string {
	if tree, err := parsed(text); err == nil {
		if out, err := cel.AstToString(tree); err == nil {
			return out
		}
	}
	return text
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func sortedSet(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}
