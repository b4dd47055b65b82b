package service

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/engine"
)

// checked is the answer to check.
type checked struct {
	// Report is what celadon check --no-vet --verbose --summary -o json prints.
	Report  json.RawMessage `json:"report"`
	Objects []decided       `json:"objects"`
	// Problems are of the CRDs and the old objects.
	Problems []string `json:"problems"`
}

// decided is what the report does not say of an object.
type decided struct {
	// CRD is the name of the object's; "" where none was given.
	CRD string `json:"crd"`
	// Causes are the positions in Rules of those that made the report's causes; -1 is
	// none.
	Causes []int `json:"causes"`
	// Kubectl is what kubectl would print of a refusal.
	Kubectl string `json:"kubectl,omitempty"`
	// Diff is how what would be persisted differs from what is written.
	Diff  string `json:"diff,omitempty"`
	Rules []rule `json:"rules"`
	// Runs are the first of all.
	Runs    []run `json:"runs"`
	AllRuns int   `json:"allRuns"`
}

// rule is one that ran.
type rule struct {
	Version string `json:"version"`
	Path    string `json:"path"`
	Index   int    `json:"index"`
	Rule    string `json:"rule"`
	Runs    int    `json:"runs"`
	Failed  int    `json:"failed"`
	Cost    int64  `json:"cost"`
}

// run is one run of a rule.
type run struct {
	Rule    int    `json:"rule"` // its position in Rules
	Field   string `json:"field"`
	Outcome string `json:"outcome"`
}

// maxRuns is how many runs are told of: a page with more is of no use.
const maxRuns = 500

var outcomes = map[engine.RunOutcome]string{
	engine.Passed: "passed", engine.Refused: "refused", engine.Ratcheted: "ratcheted", engine.Failed: "failed", engine.Undecided: "undecided",
}

func (r *Service) check(ctx context.Context, req *Request) (any, error) {
	all, err := r.checked(ctx, req)
	if err != nil {
		return nil, err
	}
	answer := &checked{Report: all.Report, Objects: []decided{}, Problems: []string{}}
	for _, problem := range all.Problems {
		answer.Problems = append(answer.Problems, problem.Error())
	}
	for i := range all.Objects {
		if bug := all.Objects[i].Bug; bug != nil {
			return nil, fmt.Errorf("a bug of ours, please report it: %w", bug)
		}
		answer.Objects = append(answer.Objects, newDecided(&all.Objects[i]))
	}
	return answer, nil
}

func (r *Service) checked(ctx context.Context, req *Request) (*verdict.Checked, error) {
	d, err := r.compiled(ctx, req)
	if err != nil {
		return nil, err
	}
	return d.Check(ctx, verdict.Writes{
		Objects:     input.Text{File: ObjectFile, Data: []byte(req.Object)},
		Olds:        input.Text{File: OldFile, Data: []byte(req.Old)},
		Subresource: req.Subresource,
	})
}

func newDecided(o *verdict.Answer) decided {
	d := decided{CRD: o.CRD, Causes: []int{}, Diff: string(o.Diff), Rules: []rule{}, Runs: []run{}, AllRuns: len(o.Runs)}
	if o.Status != nil {
		d.Kubectl = string(finding.KubectlError(o.Object))
	}
	at := map[engine.RuleRef]int{}
	for _, ran := range o.Rules {
		at[ran.RuleRef] = len(d.Rules)
		d.Rules = append(d.Rules, rule{ran.Version, ran.Path, ran.Index, ran.Rule, ran.Runs, ran.Failed, ran.Cost})
	}
	for _, c := range o.Causes {
		i := -1
		if c.Ref != nil {
			if n, ok := at[*c.Ref]; ok {
				i = n
			}
		}
		d.Causes = append(d.Causes, i)
	}
	for _, one := range o.Runs[:min(len(o.Runs), maxRuns)] {
		d.Runs = append(d.Runs, run{at[*one.Rule], one.Field, outcomes[one.Outcome]})
	}
	return d
}
