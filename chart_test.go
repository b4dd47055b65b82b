package celadon_test

import (
	"fmt"
	"html"
	"math"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// chartDecades is the length of the logarithmic axis of costs, in powers of ten.
const chartDecades = 18

func costChart(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("examples/costly/crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const left, width, row = 12, pictureWidth - 24, 46
	at := func(cost uint64) int { return int(width * math.Log10(float64(cost)) / chartDecades) }
	var b strings.Builder
	y, limit, axis := 12, 0, ""
	for _, bounds := range []struct{ items, length int }{{0, 0}, {200, 0}, {0, 512}, {200, 512}, {50, 64}} {
		rule := costlyRule(t, string(data), bounds.items, bounds.length)
		class, label := "good", boundsText(bounds.items, bounds.length)
		if rule.EstimatedTotal > rule.Limit {
			class = "bad"
		}
		limit = left + at(rule.Limit)
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\">%s</text>\n", left, y+14, html.EscapeString(label))
		fmt.Fprintf(&b, "<text class=\"title\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left+width, y+14, phrase.Number(rule.EstimatedTotal))
		fmt.Fprintf(&b, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"12\" rx=\"3\"/>\n", class, left, y+20, at(rule.EstimatedTotal))
		fmt.Fprintf(&b, "<path d=\"M%d %dv20\" stroke-width=\"2\"/>\n", limit, y+16)
		axis = "the limit of a rule: " + phrase.Number(rule.Limit)
		y += row
	}
	fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", limit, y+12, axis)
	return svg("The cost of a rule for several bounds",
		"The estimated cost of self.all(h, self.exists_one(k, k == h)) on a logarithmic scale: only with bounds for both the items and their length, it is below the limit.", y+22, b.String())
}

// A bound of 0 is left out.
func costlyRule(t *testing.T, crd string, items, length int) *vet.Rule {
	t.Helper()
	if items > 0 {
		crd = strings.Replace(crd, "type: array\n", fmt.Sprintf("type: array\n                maxItems: %d\n", items), 1)
	}
	if length > 0 {
		crd = strings.Replace(crd, "type: string\n", fmt.Sprintf("type: string\n                  maxLength: %d\n", length), 1)
	}
	raw, err := yaml.YAMLToJSON([]byte(crd))
	if err != nil {
		t.Fatal(err)
	}
	report, err := vet.Vet(t.Context(), raw, vet.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return &report.Versions[0].Rules[0]
}

func boundsText(items, length int) string {
	var parts []string
	if items > 0 {
		parts = append(parts, fmt.Sprintf("maxItems: %d", items))
	}
	if length > 0 {
		parts = append(parts, fmt.Sprintf("maxLength: %d", length))
	}
	if parts == nil {
		return "no bounds"
	}
	return strings.Join(parts, ", ")
}
