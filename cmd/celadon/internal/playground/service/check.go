package service

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/engine"
)

type checked struct {
	// Report is the output of celadon check --no-vet --verbose --summary -o json.
	Report   json.RawMessage `json:"report"`
	Objects  []objectDetails `json:"objects"`
	Problems []string        `json:"problems"`
}

type objectDetails struct {
	// CRD is the name of the object's CRD, or "" without a usable CRD.
	CRD string `json:"crd"`
	// Causes has, for each cause of the report, the index in Rules of the rule that caused it, or -1.
	Causes []int `json:"causes"`
	// Points holds the reason in the message of each cause, and Strict the reason of each unknown or duplicate field.
	Points []string `json:"points"`
	Strict []string `json:"strict"`
	// Kubectl is the message that kubectl would print for a rejected object.
	Kubectl string `json:"kubectl,omitempty"`
	Diff    string `json:"diff,omitempty"`
	Rules   []rule `json:"rules"`
	// Runs holds the first maxRuns runs. AllRuns is the number of all runs.
	Runs    []run `json:"runs"`
	AllRuns int   `json:"allRuns"`
}

type rule struct {
	Version string `json:"version"`
	Path    string `json:"path"`
	Index   int    `json:"index"`
	Rule    string `json:"rule"`
	Runs    int    `json:"runs"`
	Failed  int    `json:"failed"`
	Cost    int64  `json:"cost"`
}

type run struct {
	Rule    int    `json:"rule"` // index in Rules
	Field   string `json:"field"`
	Outcome string `json:"outcome"`
}

// maxRuns limits the runs in a response, because a page cannot usefully show more.
const maxRuns = 500

var outcomes = map[engine.RunOutcome]string{
	engine.Passed: "passed", engine.Rejected: "refused", engine.Ratcheted: "ratcheted", engine.Failed: "failed", engine.Undecided: "undecided",
}

func (r *Service) check(ctx context.Context, req *Request) (any, error) {
	all, err := r.checked(ctx, req)
	if err != nil {
		return nil, err
	}
	answer := &checked{Report: all.Report, Objects: []objectDetails{}, Problems: []string{}}
	for _, problem := range all.Problems {
		answer.Problems = append(answer.Problems, problem.Error())
	}
	for i := range all.Objects {
		if bug := all.Objects[i].Bug; bug != nil {
			return nil, fmt.Errorf("internal error, please report it: %w", bug)
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
		Policies:    input.Text{File: PolicyFile, Data: []byte(req.Policies)},
		Subresource: req.Subresource,
	})
}

func newDecided(o *verdict.Answer) objectDetails {
	d := objectDetails{CRD: o.CRD, Causes: []int{}, Points: []string{}, Strict: []string{}, Diff: string(o.Diff), Rules: []rule{}, Runs: []run{}, AllRuns: len(o.Runs)}
	if o.Status != nil {
		d.Kubectl = string(print.KubectlError(o.Object))
	}
	at := map[engine.RuleRef]int{}
	for _, ran := range o.Rules {
		at[ran.RuleRef] = len(d.Rules)
		d.Rules = append(d.Rules, rule{ran.Version, ran.Path, ran.Index, ran.Rule, ran.Runs, ran.Failed, ran.Cost})
	}
	for _, at := range o.Strict {
		point, _ := editor.StrictPoint(o.Status.Message, at.Field, at.Hint)
		if at.Message != "" {
			point = at.Message
		}
		d.Strict = append(d.Strict, point)
	}
	for _, c := range o.Causes {
		d.Points = append(d.Points, editor.Point(c.Field, c.Message))
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
