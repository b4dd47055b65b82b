package vetting

import (
	"cmp"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/foreign"
	"github.com/celadon-cel/celadon/internal/phrase"
)

// why explains what rules cost, the most expensive first, and what to do.
func (p *textPrinter) why(b *strings.Builder, one *vetted, v *vet.Version) {
	rules := slices.DeleteFunc(slices.Clone(v.Rules), func(r vet.Rule) bool { return r.Reason == nil })
	slices.SortStableFunc(rules, func(x, y vet.Rule) int {
		return cmp.Compare(max(y.EstimatedTotal, y.MessageExpressionCost), max(x.EstimatedTotal, x.MessageExpressionCost))
	})
	lines := one.lines(v, rules)
	if slices.ContainsFunc(rules, func(r vet.Rule) bool { return r.Over }) {
		p.line(b, 4, foreign.Sprintf("Cost is counted in units, about one for each step that a rule takes, for the largest object that the schema lets in. One rule may cost %s in all the places where it runs, all rules of a version together %s.", number(rules[0].Limit), number(v.Limit)))
	}
	for i := range rules {
		if i == mostRows && !p.all {
			p.line(b, 4, foreign.Sprintf("… and %d more (--all explains them)", len(rules)-i))
			break
		}
		p.reason(b, &rules[i], lines[rules[i].Field])
	}
	p.advice(b, v, lines)
}

func (p *textPrinter) reason(b *strings.Builder, r *vet.Rule, line foreign.Own) {
	what, cost := phrase.Rule(r.Path, r.Index), r.EstimatedTotal
	message := cost <= r.Limit && r.MessageExpressionCost > r.Limit
	if message {
		what, cost = "the messageExpression of "+what, r.MessageExpressionCost
	}
	head := foreign.Sprintf("why %s%s costs %s", what, line, number(cost))
	switch {
	case cost > r.Limit:
		head += foreign.Sprintf(" where %s is the limit", number(r.Limit))
	case r.Over:
		head += ", much of a sum that is over its limit"
	}
	p.line(b, 4, head+":")
	p.line(b, 6, "most of it in: "+p.paint(foreign.Bold, oneLine(r.Reason.Expression, 100)))
	if r.Cardinality > 1 && !message {
		p.line(b, 6, foreign.Sprintf("it runs %s times%s, for %s each", number(r.Cardinality), because(r), number(r.EstimatedCost)))
	}
	for _, m := range r.Reason.Missing {
		p.line(b, 6, foreign.Sprintf("%s has no %s: %s assumed", phrase.Place(m.Path), m.Set, counted(m)))
	}
	for _, note := range r.Reason.Notes {
		p.line(b, 6, foreign.Sprintf("note: %s", note))
	}
	if !r.Reason.Mendable {
		p.line(b, 6, p.paint(foreign.Red, "no bounds make it fit: rewrite this part"))
	}
}

// counted is an assumed size and what it is a number of.
func counted(m vet.Missing) foreign.Own {
	unit := map[string]foreign.Own{"maxItems": "items", "maxProperties": "entries", "maxLength": "bytes"}[m.Set]
	return number(uint64(m.Assumed)) + " " + unit
}

func (p *textPrinter) advice(b *strings.Builder, v *vet.Version, lines map[string]foreign.Own) {
	if len(v.Advice) == 0 {
		return
	}
	what := foreign.Own("set these bounds and all rules fit")
	if !v.Mendable {
		what = "set these bounds and the other rules fit"
	}
	p.line(b, 4, p.paint(foreign.Green, what)+":")
	for _, a := range v.Advice {
		text := foreign.Sprintf("%s: %s: %d", phrase.Place(a.Path), a.Set, a.Value)
		if a.Now > 0 {
			text += foreign.Sprintf(" (now %d)", a.Now)
		}
		p.line(b, 6, text+lines[a.Field])
	}
}

// lines are where in the file rules and advice stand, by their field in the CRD.
func (one *vetted) lines(v *vet.Version, rules []vet.Rule) map[string]foreign.Own {
	var fields []string
	for i := range rules {
		if rules[i].Reason != nil {
			fields = append(fields, rules[i].Field)
		}
	}
	lines := map[string]foreign.Own{}
	for _, at := range append(one.places(fields, 0), one.advicePlaces(v.Advice)...) {
		if at.Line > 0 {
			lines[at.Field] = foreign.Sprintf(" (%s:%d)", at.File, at.Line)
		}
	}
	return lines
}
