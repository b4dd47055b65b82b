package policies

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/policy"
)

var (
	scenarios = flag.Int("scenarios", 300, "how many generated sets of policies a run compares")
	first     = flag.Uint64("seed", 1, "the seed of the first")
)

func TestGenerated(t *testing.T) {
	var count struct{ policies, requests, evaluations, denied, failed, overBudget, excluded, undecided, differences int }
	for seed := *first; seed < *first+uint64(*scenarios) && count.differences < 10; seed++ {
		s := NewScenario(seed)
		set, err := policy.Compile(s.Documents, s.Config)
		var invalid *policy.CompileErrors
		if err != nil && !errors.As(err, &invalid) {
			t.Fatal(err)
		}
		for _, e := range errorsOf(invalid) {
			if e.Dropped {
				t.Errorf("seed %d: %v", seed, e)
			}
		}
		count.policies += len(set.Policies())
		u := NewUpstream(s.Documents, s.Config)
		for i := range s.Requests {
			req := &s.Requests[i]
			count.requests++
			text, undecided := difference(u, set, req)
			if text != "" {
				count.differences++
				data, _ := yaml.Marshal(s.Documents)
				t.Errorf("seed %d, request %d: %s %s\n%s\n%s", seed, i, req.Operation, fmt.Sprint(req.Object, req.OldObject), text, data)
			}
			count.undecided += len(undecided)
			res, err := set.Evaluate(context.Background(), *req)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range res.Evaluations {
				count.evaluations++
				if e.Excluded {
					count.excluded++
				}
				for _, d := range e.Decisions {
					count.denied++
					if d.Failed {
						count.failed++
					}
					if d.Validation < 0 {
						count.overBudget++
					}
				}
			}
		}
	}
	t.Logf("generated: %+v", count)
}

func errorsOf(e *policy.CompileErrors) []*policy.CompileError {
	if e == nil {
		return nil
	}
	return e.Errors
}
