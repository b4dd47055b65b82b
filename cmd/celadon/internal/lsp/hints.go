package lsp

import (
	"context"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// eachRule calls do for each vetted rule, with its location.
func (p *part) eachRule(t *text, do func(*vet.Rule, protocol.Range)) {
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
			do(r, t.rangeOf(p.start+node.Start, p.start+node.End))
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
		p.eachRule(v.text, func(r *vet.Rule, rng protocol.Range) {
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
