package celadontest

import (
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/ruletest/coverage"
)

// watched records which rules ran in writes, and which rejected a write.
type watched struct {
	recorder *coverage.Recorder
	byCRD    map[string]*coverage.Watch
}

// maxGaps limits the number of rules that a failure of Cover lists.
const maxGaps = 50

// Cover requires that, in all later writes, at least percent of the rules run and reject an object.
// When t and its subtests have ended, it fails t if the coverage is lower, and lists the missing
// rules. Cover compiles all CRDs and makes writes slower.
func (c *CRDs) Cover(t testing.TB, percent float64) {
	t.Helper()
	w := &watched{coverage.New(), map[string]*coverage.Watch{}}
	for _, name := range c.set.catalog.Names() {
		e := c.set.catalog.Named(name)
		compiled, err := e.Engine()
		if err == nil {
			w.byCRD[name], err = w.recorder.Watch(e.CRD, compiled)
		}
		if err != nil {
			t.Fatalf("celadontest: CRD %s: %v", name, err)
		}
	}
	if !c.watched.CompareAndSwap(nil, w) {
		t.Fatalf("celadontest: Cover is already on: call it once for all tests of these CRDs, before their writes")
	}
	t.Cleanup(func() {
		t.Helper()
		c.watched.Store(nil)
		if report := w.recorder.Report(); report.Percent() < percent {
			t.Errorf("celadontest: coverage is %.1f %%, want %v; of %d rules, %d ran and %d rejected%s",
				report.Percent(), percent, report.Rules, report.Ran, report.Rejected, gaps(report))
		}
	})
}

// gaps lists the rules that never ran or never rejected.
func gaps(report *coverage.Report) string {
	var b strings.Builder
	shown, left := 0, 0
	for i := range report.Items {
		item := &report.Items[i]
		if item.Rejected > 0 {
			continue
		}
		if shown == maxGaps {
			left++
			continue
		}
		shown++
		remark := "never rejected"
		if item.Ran == 0 {
			remark = "never ran"
		}
		untrusted.Fprintf(&b, "\n  %s %s %s: %s: %s", item.CRD, item.Version, pathText(item.Path), remark, item.Rule)
	}
	if left > 0 {
		untrusted.Fprintf(&b, "\n  and %d more", left)
	}
	return b.String()
}

func pathText(path string) string {
	if path == "" {
		return "the root"
	}
	return path
}

// observer returns the function that records the runs of a CRD's rules, or nil without Cover.
func (c *CRDs) observer(crd string) func(engine.RuleRun) {
	w := c.watched.Load()
	if w == nil {
		return nil
	}
	return w.byCRD[crd].Observe
}
