package celadontest

import (
	"context"
	"strings"

	"github.com/celadon-cel/celadon/engine/trace"
	"github.com/celadon-cel/celadon/internal/foreign"
	"github.com/celadon-cel/celadon/internal/preview"
)

const (
	// maxShown is how many causes a failure shows.
	maxShown = 20
	// valueWidth is how many characters a value has.
	valueWidth = 80
)

// why shows the causes of a refusal, each with its rule and the values in it.
func (v verdict) why() string {
	var b strings.Builder
	causes := said(v.result)
	shown := causes[:min(len(causes), maxShown)]
	explained, _ := v.write.crds.set.explainer(v.engine).Explain(context.Background(), v.result.Prepared(), shown, new(trace.Run).Allowance())
	for i := range shown {
		foreign.Fprintf(&b, "\n  %s", line(&shown[i]))
		if rule := shown[i].Rule; rule != nil {
			head := "rule: "
			for text := range strings.Lines(strings.TrimSpace(rule.Rule)) {
				foreign.Fprintf(&b, "\n    %s%s", head, strings.TrimSuffix(text, "\n"))
				head = "      "
			}
		}
		for _, value := range explained.Causes[i].Values {
			foreign.Fprintf(&b, "\n      %s: %s", value.Expr, preview.JSON(value.Value, valueWidth))
		}
		if why := explained.Causes[i].NotShown; why != "" {
			foreign.Fprintf(&b, "\n      values not shown: %s", why)
		}
	}
	if more := len(causes) - len(shown); more > 0 {
		foreign.Fprintf(&b, "\n  and %d more", more)
	}
	return b.String()
}
