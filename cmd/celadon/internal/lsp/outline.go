package lsp

import (
	"context"
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/preview"
)

// maxName limits the bytes of a rule that are used as its name.
const maxName = 80

// symbols returns the rules of CRDs and the cases of test suites.
func (v *view) symbols(context.Context) []protocol.DocumentSymbol {
	all := []protocol.DocumentSymbol{}
	for _, p := range v.known.parts {
		switch {
		case p.crd != nil && p.crd.vetted != nil && p.crd.vetted.Report != nil:
			s := protocol.DocumentSymbol{Name: titled(p.crd.vetted.Report.Name, "a CRD"), Kind: protocol.SymbolClass, Range: p.whole(v.text), SelectionRange: p.whole(v.text)}
			p.eachRule(v.text, func(r *vet.Rule, at editor.RuleAt, rng protocol.Range) {
				s.Children = append(s.Children, protocol.DocumentSymbol{
					Name: titled(preview.Bytes(lex.Flat(r.Rule), maxName), "an empty rule"), Detail: shown(phrase.Path(r.Path)),
					Kind: protocol.SymbolMethod, Range: rng, SelectionRange: rng,
				})
				s.Range.End = later(s.Range.End, rng.End)
			})
			all = append(all, s)
		case p.suite != nil:
			s := protocol.DocumentSymbol{Name: titled(p.suite.report.Name, "a suite"), Kind: protocol.SymbolClass, Range: p.whole(v.text), SelectionRange: p.whole(v.text)}
			for _, c := range p.suite.report.Cases {
				rng := v.text.line(c.Line)
				s.Children = append(s.Children, protocol.DocumentSymbol{Name: titled(c.Name, "a case"), Detail: string(c.Outcome), Kind: protocol.SymbolEvent, Range: rng, SelectionRange: rng})
				s.Range.End = later(s.Range.End, rng.End)
			}
			all = append(all, s)
		}
	}
	return all
}

func titled(name, otherwise string) string {
	if name = strings.TrimSpace(shown(name)); name == "" {
		return otherwise
	}
	return name
}

func later(a, b protocol.Position) protocol.Position {
	if a.Line < b.Line || a.Line == b.Line && a.Character < b.Character {
		return b
	}
	return a
}

// eachRule calls do for each vetted rule, with its location.
func (p *part) eachRule(t *text, do func(*vet.Rule, editor.RuleAt, protocol.Range)) {
	report := p.crd.vetted.Report
	for i := range report.Versions {
		for j := range report.Versions[i].Rules {
			r := &report.Versions[i].Rules[j]
			at, ok := p.crd.at(&engine.RuleRef{Version: report.Versions[i].Name, Path: r.Path, Index: r.Index}, "rule")
			if !ok {
				continue
			}
			_, node := p.ruleNode(at)
			if node == nil || !node.Known {
				continue
			}
			do(r, at, t.rangeOf(p.start+node.Start, p.start+node.End))
		}
	}
}

// hints returns the cost of each rule and its share of the limit, to be shown after the rule.
func (v *view) hints(context.Context) []protocol.InlayHint {
	all := []protocol.InlayHint{}
	for _, p := range v.known.parts {
		if p.crd == nil || p.crd.vetted == nil || p.crd.vetted.Report == nil {
			continue
		}
		p.eachRule(v.text, func(r *vet.Rule, _ editor.RuleAt, rng protocol.Range) {
			if r.Broken {
				return
			}
			end := v.text.trimmedEnd(v.text.offset(rng.Start))
			hint := protocol.InlayHint{Position: v.text.position(end), Label: "cost " + phrase.Number(r.EstimatedTotal) + " (" + phrase.Share(r.EstimatedTotal, r.Limit) + ")", PaddingLeft: true}
			hint.Tooltip = fmt.Sprintf("estimated: %s per run, %s at most, limit %s", phrase.Number(r.EstimatedCost), phrase.Count(int(min(r.Cardinality, 1<<53)), "run"), phrase.Number(r.Limit))
			if r.MessageExpressionCost > 0 {
				hint.Tooltip += "; its message " + phrase.Number(r.MessageExpressionCost)
			}
			all = append(all, hint)
		})
	}
	return all
}

// lenses returns the lenses above CRDs and test suites.
func (v *view) lenses(context.Context) []protocol.CodeLens {
	all := []protocol.CodeLens{}
	for _, p := range v.known.parts {
		switch {
		case p.suite != nil:
			all = append(all, v.suiteLenses(p)...)
		case p.crd != nil && p.crd.vetted != nil && p.crd.vetted.Report != nil:
			all = append(all, protocol.CodeLens{Range: p.whole(v.text), Command: &protocol.Command{Title: summary(p.crd.vetted.Report)}})
		}
	}
	return all
}

// summary returns the result of celadon vet in one line.
func summary(r *vet.Report) string {
	words := []string{"accepted"}
	if !r.Accepted {
		words[0] = "the API server rejects it"
	}
	if r.MinKubeVersion != "" {
		words = append(words, "needs Kubernetes "+r.MinKubeVersion)
	}
	for _, v := range r.Versions {
		if len(v.Rules) > 0 {
			words = append(words, fmt.Sprintf("%s: %s, cost %s (%s)", shown(v.Name), phrase.Count(len(v.Rules), "rule"), phrase.Number(v.EstimatedCost), phrase.Share(v.EstimatedCost, v.Limit)))
		}
	}
	return strings.Join(words, "; ")
}
