package conformance

import (
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/level"
)

// TestStartersOnServer runs the cases of starter suites for the CRDs of a corpus on a real server,
// and checks that each verdict is as expected. For four fifths of the rules the suites must contain
// an object that only this rule rejects. A sample is one CRD of each project.
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
