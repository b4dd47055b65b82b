package conformance

import (
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/level"
)

func TestStartersOnServer(t *testing.T) {
	crds, steps := witnessCRDs(t), 0
	if !level.Long() {
		crds, steps = oneOfEach(crds), 50
	}
	report := NewReport("starters")
	startServer(t).SweepStarters(t.Context(), crds, steps, report)
	finish(t, report)
	rules, alone := report.Noted("rules"), report.Noted("rules that refuse an object alone")
	if t.Logf("%d rules, %d refuse an object alone", rules, alone); alone*5 < rules*4 {
		t.Errorf("%d of %d rules refuse an object alone, want four in five", alone, rules)
	}
}
