package celadontest

import (
	"context"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/trace"
)

const (
	// maxShown limits the number of causes that a failure shows.
	maxShown = 20
	// valueWidth limits the number of characters of a value.
	valueWidth = 80
)

// why formats the causes of a rejection, each with its rule and the values in it.
func (v verdict) why() string {
	var b strings.Builder
	causes := causesOf(v.result)
	shown := causes[:min(len(causes), maxShown)]
	explained, _ := v.write.crds.set.explainer(v.engine).Explain(context.Background(), v.result.Prepared, shown, new(trace.Run).Allowance())
	for i := range shown {
		untrusted.Fprintf(&b, "\n  %s", line(&shown[i]))
		if rule := shown[i].Rule; rule != nil {
			head := "rule: "
			for text := range strings.Lines(strings.TrimSpace(rule.Rule)) {
				untrusted.Fprintf(&b, "\n    %s%s", head, strings.TrimSuffix(text, "\n"))
				head = "      "
			}
		}
		for _, value := range explained.Causes[i].Values {
			untrusted.Fprintf(&b, "\n      %s: %s", value.Expr, preview.JSON(value.Value, valueWidth))
		}
		if why := explained.Causes[i].NotShown; why != "" {
			untrusted.Fprintf(&b, "\n      values not shown: %s", why)
		}
	}
	if more := len(causes) - len(shown); more > 0 {
		untrusted.Fprintf(&b, "\n  and %d more", more)
	}
	return b.String()
}
