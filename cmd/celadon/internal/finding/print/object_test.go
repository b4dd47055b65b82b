package print

import (
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/engine"
)

func TestIncompleteCause(t *testing.T) {
	t.Parallel()
	remark := finding.Cause{Field: "<nil>", Reason: "FieldValueInvalid", Message: "Invalid value: null: some validation rules were not checked", Kind: engine.CauseRulesSkipped}
	text := finding.Cause{Field: "text", Reason: "FieldValueInvalid", Message: "must be a string", File: "a.yaml", Line: 3, Column: 1}
	for _, tt := range []struct {
		causes []finding.Cause
		want   int // findings
	}{
		{[]finding.Cause{remark, text}, 1},
		{[]finding.Cause{text, remark}, 1},
		{[]finding.Cause{text, text, remark}, 2},
		{[]finding.Cause{remark}, 1},
		{[]finding.Cause{text}, 1},
	} {
		o := &finding.Object{File: "a.yaml", Verdict: finding.Invalid, Status: &finding.Status{Code: 422, Reason: "Invalid"}, Causes: tt.causes}
		var found []finding.Finding
		for f := range Findings(o) {
			found = append(found, f)
		}
		if len(found) != tt.want {
			t.Errorf("%d causes: %d findings, want %d", len(tt.causes), len(found), tt.want)
		}
		if hasRemark := strings.Contains(found[0].Text(), rulesNotRun); hasRemark != (tt.want < len(tt.causes)) {
			t.Errorf("%d causes: %s", len(tt.causes), found[0].Text())
		}
	}
}
