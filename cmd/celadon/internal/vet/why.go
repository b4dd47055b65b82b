package vet

import (
	"cmp"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

func (p *textPrinter) why(b *strings.Builder, one *vetted, v *vet.Version) {
	rules := slices.DeleteFunc(slices.Clone(v.Rules), func(r vet.Rule) bool { return r.Reason == nil })
	slices.SortStableFunc(rules, func(x, y vet.Rule) int {
		return cmp.Compare(max(y.EstimatedTotal, y.MessageExpressionCost), max(x.EstimatedTotal, x.MessageExpressionCost))
	})
	lines := one.lines(v, rules)
	if slices.ContainsFunc(rules, func(r vet.Rule) bool { return r.OverLimit }) {
		p.line(b, 4, untrusted.Sprintf("Cost is counted in units, about one for each step of a rule, for the largest object that the schema accepts. One rule may cost %s over all of its runs in an object; all rules of a version together may cost %s.", formatNumber(rules[0].Limit), formatNumber(v.Limit)))
	}
	for i := range rules {
		if i == maxRows && !p.all {
			p.line(b, 4, untrusted.Sprintf("… and %d more (--all explains them)", len(rules)-i))
			break
		}
		p.reason(b, &rules[i], lines[rules[i].Field])
	}
	p.advice(b, v, lines)
}

func (p *textPrinter) reason(b *strings.Builder, r *vet.Rule, line untrusted.Safe) {
	ruleName, cost := phrase.Rule(r.Path, r.Index), r.Reason.EstimatedTotal
	message := r.Reason.Message
	if message {
		ruleName = "the messageExpression of " + ruleName
	}
	head := untrusted.Sprintf("why %s%s costs %s", ruleName, line, formatNumber(cost))
	if r.Reason.KubeVersion != "" {
		head += untrusted.Sprintf(" in Kubernetes %s", r.Reason.KubeVersion)
	}
	switch {
	case cost > r.Limit:
		head += untrusted.Sprintf(", over the limit of %s", formatNumber(r.Limit))
	case r.OverLimit:
		head += ", a large part of a sum over its limit"
	}
	p.line(b, 4, head+":")
	p.line(b, 6, "most of it in: "+p.out.Paint(untrusted.Bold, oneLine(r.Reason.Expression, 100)))
	if r.Cardinality > 1 && !message {
		each := r.EstimatedCost
		if r.Reason.KubeVersion != "" {
			each = cost / r.Cardinality
		}
		p.line(b, 6, untrusted.Sprintf("it runs %s times%s, for %s each", formatNumber(r.Cardinality), multipliers(r), formatNumber(each)))
	}
	for _, m := range r.Reason.Missing {
		p.line(b, 6, untrusted.Sprintf("%s has no %s: %s assumed", phrase.Path(m.Path), m.Set, counted(m)))
	}
	for _, note := range r.Reason.Notes {
		p.line(b, 6, untrusted.Sprintf("note: %s", note))
	}
	if !r.Reason.Fixable {
		p.line(b, 6, p.out.Paint(untrusted.Red, "no bounds make it fit: rewrite this part"))
	}
}

func counted(m vet.Missing) untrusted.Safe {
	unit := map[string]untrusted.Safe{"maxItems": "items", "maxProperties": "entries", "maxLength": "bytes"}[m.Set]
	return formatNumber(uint64(m.Assumed)) + " " + unit
}

func (p *textPrinter) advice(b *strings.Builder, v *vet.Version, lines map[string]untrusted.Safe) {
	if len(v.Advice) == 0 {
		return
	}
	effect := untrusted.Safe("with these bounds, all rules fit")
	if !v.Fixable {
		effect = "with these bounds, the other rules fit"
	}
	p.line(b, 4, p.out.Paint(untrusted.Green, effect)+":")
	for _, a := range v.Advice {
		text := untrusted.Sprintf("%s: %s: %d", phrase.Path(a.Path), a.Set, a.Value)
		if a.Now > 0 {
			text += untrusted.Sprintf(" (now %d)", a.Now)
		}
		p.line(b, 6, text+lines[a.Field])
	}
}

func (one *vetted) lines(v *vet.Version, rules []vet.Rule) map[string]untrusted.Safe {
	fields := pathsOf(rules, func(r vet.Rule) string { return r.Field })
	lines := map[string]untrusted.Safe{}
	for _, at := range append(one.locations(fields, 0), one.adviceLocations(v.Advice)...) {
		if at.Line > 0 {
			lines[at.Field] = untrusted.Sprintf(" (%s:%d)", at.File, at.Line)
		}
	}
	return lines
}
