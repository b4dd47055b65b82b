package fuzz

import (
	"flag"
	"fmt"
	"io"
	"os"
	"testing"

	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/types"
)

var (
	scenarios = flag.Int("scenarios", enough, "how many scenarios a run compares")
	first     = flag.Uint64("seed", 1, "the first scenario's seed")
)

func TestScenarios(t *testing.T) {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	cover := newCoverage()
	failed := 0
	for seed := *first; seed < *first+uint64(*scenarios) && failed < 10; seed++ {
		w := NewScenario(seed, cover.lib)
		if w == nil {
			continue
		}
		if difference := cover.compare(w); difference != "" {
			failed++
			t.Errorf("seed %d: %s\n%s", seed, difference, w)
		}
	}
	cover.print(os.Stdout)
	fmt.Printf("fuzz: %d passed, %d failed\n", cover.scenarios-failed, failed)
	for _, short := range cover.check() {
		if *scenarios >= enough {
			t.Error("the run does not count: " + short)
		}
	}
}

// enough is the number of scenarios that reach every overload.
const enough = 700

func (c *coverage) compare(w *Scenario) string {
	c.scenarios++
	c.countRules(w.schema, types.FromSchema(w.schema, types.ResourceRoot))
	difference, ours := compareRules(w, budgetOf(w.seed))
	if difference != "" {
		return "rules: " + difference
	}
	difference, res := compareWrites(w)
	if difference != "" {
		return "write: " + difference
	}
	runs := 0
	for _, r := range res.Rules {
		runs += r.Runs
	}
	if runs > 0 {
		c.outcome(ours, runs)
	}
	return ""
}

func budgetOf(seed uint64) int64 {
	if seed%16 == 0 {
		return int64(seed/16%64) + 1
	}
	return celconfig.RuntimeCELCostBudget
}

func (w *Scenario) String() string {
	schema, _ := yaml.Marshal(w.props)
	obj, _ := yaml.Marshal(w.obj)
	old, _ := yaml.Marshal(w.old)
	return fmt.Sprintf("schema:\n%s\nobject:\n%s\nold:\n%s", schema, obj, old)
}

func FuzzScenarios(f *testing.F) {
	lib := newCoverage().lib
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		w := NewScenario(seed, lib)
		if w == nil {
			return
		}
		if difference, _ := compareRules(w, budgetOf(seed)); difference != "" {
			t.Errorf("rules: %s\n%s", difference, w)
		}
		if difference, _ := compareWrites(w); difference != "" {
			t.Errorf("write: %s\n%s", difference, w)
		}
	})
}
