package editor

import (
	"slices"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/engine"
)

func TestRepeats(t *testing.T) {
	t.Parallel()
	type cause struct {
		line, column   int
		field, message string
		kind           engine.CauseKind
	}
	const (
		v1          = "spec.versions[0].schema.openAPIV3Schema.properties[spec]"
		v2          = "spec.versions[1].schema.openAPIV3Schema.properties[spec]"
		over        = "Forbidden: estimated rule cost exceeds budget by factor of 3.0x (try …)"
		message     = "Forbidden: estimated messageExpression cost exceeds budget by factor of 3.0x (try …)"
		contributed = "Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
		total       = "Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 2.0x (try …)"
	)
	for _, c := range []struct {
		name   string
		errors []cause
		want   []bool
	}{
		{"none", nil, nil},
		{"one rule", []cause{{1, 1, v1, total, engine.CauseTotalCost}, {5, 3, v1, contributed, engine.CauseShareOfCost}, {5, 3, v1, over, engine.CauseRuleCost}}, []bool{true, true, false}},
		{"two versions share its text", []cause{{1, 1, v1, total, engine.CauseTotalCost}, {5, 3, v1, contributed, engine.CauseShareOfCost}, {5, 3, v1, over, engine.CauseRuleCost}, {1, 1, v2, total, engine.CauseTotalCost}, {5, 3, v2, over, engine.CauseRuleCost}}, []bool{true, true, false, true, true}},
		{"only the total is too high", []cause{{1, 1, v1, total, engine.CauseTotalCost}, {5, 3, v1, contributed, engine.CauseShareOfCost}, {6, 3, v1, contributed, engine.CauseShareOfCost}}, []bool{false, false, false}},
		{"another rule contributes", []cause{{5, 3, v1, over, engine.CauseRuleCost}, {5, 3, v1, contributed, engine.CauseShareOfCost}, {6, 3, v1, contributed, engine.CauseShareOfCost}, {1, 1, v1, total, engine.CauseTotalCost}}, []bool{false, true, false, false}},
		{"a rule and its message", []cause{{5, 3, v1, over, engine.CauseRuleCost}, {6, 3, v1, message, engine.CauseRuleCost}, {5, 3, v1, "compilation failed", ""}}, []bool{false, false, false}},
		{"two missing fields", []cause{{5, 3, "spec.group", "Required value", ""}, {5, 3, "spec.scope", "Required value", ""}}, []bool{false, false}},
	} {
		var causes []finding.Cause
		for _, e := range c.errors {
			causes = append(causes, finding.Cause{Line: e.line, Column: e.column, Field: e.field, Message: e.message, Kind: e.kind})
		}
		if got := Repeats(causes); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
