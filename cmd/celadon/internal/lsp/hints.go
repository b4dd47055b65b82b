package lsp

import (
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// hints returns the cost of each rule that compiles and its share of the limit, to be shown after the rule.
func (v *view) hints(protocol.Params) []protocol.InlayHint {
	all := []protocol.InlayHint{}
	for _, p := range v.known.parts {
		if p.report() == nil {
			continue
		}
		for _, version := range p.report().Versions {
			for _, r := range version.Rules {
				_, _, node := p.rulePart(&engine.RuleRef{Version: version.Name, Path: r.Path, Index: r.Index}, "rule")
				if !r.Broken && node != nil && node.Known {
					all = append(all, v.hint(p.start+node.Start, &r))
				}
			}
		}
	}
	return all
}

func (v *view) hint(offset int, r *vet.Rule) protocol.InlayHint {
	label := fmt.Sprintf("cost %s (%s)", phrase.Number(r.EstimatedTotal), phrase.Share(r.EstimatedTotal, r.Limit))
	runs := phrase.Count(int(min(r.Cardinality, 1<<53)), "run")
	tooltip := fmt.Sprintf("estimated: %s per run, %s at most, limit %s", phrase.Number(r.EstimatedCost), runs, phrase.Number(r.Limit))
	if r.MessageExpressionCost > 0 {
		tooltip += "; its message " + phrase.Number(r.MessageExpressionCost)
	}
	return protocol.InlayHint{Position: v.text.position(v.text.trimmedEnd(offset)), Label: label, Tooltip: tooltip, PaddingLeft: true}
}
