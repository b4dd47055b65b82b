package ruletest

import (
	"context"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/ruletest/mutation"
	"github.com/celadon-cel/celadon/x/secret"
	"github.com/celadon-cel/celadon/x/trace"
)

// Outcome is the result of a case.
type Outcome string

// The outcomes. A case with Error has a problem or no verdict, so it neither passed nor failed.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped"
	Error   Outcome = "error"
)

// Summary counts suites and outcomes.
type Summary struct {
	Suites  int `json:"suites"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
	// Errors counts problems of suites and cases without a verdict.
	Errors int `json:"errors"`
	// Older counts cases that passed only because messages of older servers are accepted.
	Older int `json:"older,omitempty"`
}

// Add adds the counts of a suite.
func (s *Summary) Add(r *SuiteReport) {
	s.Suites++
	s.Errors += len(r.Errors)
	counts := map[Outcome]*int{Passed: &s.Passed, Failed: &s.Failed, Skipped: &s.Skipped, Error: &s.Errors}
	for _, c := range r.Cases {
		*counts[c.Outcome]++
		if c.Outcome == Passed && len(c.Remarks) > 0 {
			s.Older++
		}
	}
}

// Ran returns the number of cases with a verdict.
func (s *Summary) Ran() int { return s.Passed + s.Failed }

// SuiteReport is the result of a suite. Its JSON form is a published contract.
type SuiteReport struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Name    string `json:"name"`
	CRD     string `json:"crd"`
	Version string `json:"version"`
	// CRDFiles lists the files against which the suite was run. Of files whose version under test
	// is equal, only the first is listed.
	CRDFiles []string      `json:"crdFiles,omitempty"`
	Errors   []Problem     `json:"errors"`
	Cases    []*CaseReport `json:"cases"`
}

// CaseReport is the result of a case.
type CaseReport struct {
	Name        string `json:"name"`
	Operation   string `json:"operation"`
	Subresource string `json:"subresource,omitempty"`
	Position
	Outcome Outcome `json:"outcome"`
	// Message explains why the case did not pass.
	Message string `json:"message,omitempty"`
	// Remarks are notes on a case that passed.
	Remarks []string `json:"remarks,omitempty"`
	// Against is the CRD's file or the Kubernetes version with which the case did not pass, if
	// there are several.
	Against    string     `json:"against,omitempty"`
	Mismatches []Mismatch `json:"mismatches,omitempty"`
	Got        *Got       `json:"got,omitempty"`
	// Bug is an internal error.
	Bug error `json:"-"`
	// Replays are for mutation testing. If Config.Record is set, a case that passed has one for
	// each target.
	Replays []Replay `json:"-"`

	of    *Case
	trial *trial
}

// Replay holds the writes of a case that passed on a target, and how its policies can be evaluated
// again.
type Replay struct {
	// CRD and Engine are nil for built-in kinds.
	CRD    *apiextensionsv1.CustomResourceDefinition
	Engine *engine.Engine
	Writes []mutation.Write
	// Set has the policies, without the params of the case, or is nil if no policy was evaluated.
	Set      *policy.Set
	Policies mutation.PolicyCase
}

// Got is the result of the write that a case checks, or of an earlier write that was rejected.
type Got struct {
	Verdict  string   `json:"verdict"`
	Status   *Status  `json:"status,omitempty"`
	Causes   []Cause  `json:"causes"`
	Warnings []string `json:"warnings"`
	Cost     int64    `json:"cost"`
	// Policies are the decisions of admission policies. Their values are set only if the case failed.
	Policies []policyrequest.Decision `json:"policies,omitempty"`
}

// Status is the response to a rejected write.
type Status struct {
	Code    int32  `json:"code"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Cause is a cause of a rejection. It has a position in the suite only if the case failed.
type Cause struct {
	Reason  string `json:"reason"`
	Field   string `json:"field"`
	Message string `json:"message"`
	Rule    string `json:"rule,omitempty"`
	*Position
	// Values are the values that the rule read, if the case failed.
	Values []trace.Value `json:"-"`
	// NotShown is the reason why Values is incomplete, or "".
	NotShown string `json:"-"`
}

func (c *Case) unrun(outcome Outcome, message string) *CaseReport {
	return &CaseReport{Name: c.Name, Operation: c.Operation, Subresource: c.Subresource, Position: c.Position, Outcome: outcome, Message: message, of: c}
}

func (c *Case) report(ctx context.Context, t *trial, explained *trace.Run) *CaseReport {
	r := c.unrun(Passed, "")
	r.trial, r.Remarks, r.Mismatches, r.Bug = t, t.remarks, t.wrong, t.bug
	switch {
	case t.problem != "":
		r.Outcome, r.Message = Error, t.problem
	case len(t.wrong) > 0:
		r.Outcome, r.Remarks = Failed, nil
		var texts []string
		for _, m := range t.wrong {
			texts = append(texts, fmt.Sprintf("want %s; got %s", m.Want, m.Got))
		}
		r.Message = strings.Join(texts, "\n")
	}
	if t.result != nil {
		r.Got = got(t.result)
		r.Got.Policies = t.decisions
	}
	if r.Outcome == Failed && t.result != nil {
		if t.describePolicies != nil {
			if err := t.describePolicies(ctx, true); err != nil && ctx.Err() == nil {
				r.Bug = err
			}
			r.Got.Policies = t.decisions
		}
		r.explain(ctx, t, explained)
	} else {
		r.trial = nil
	}
	return r
}

func got(res *engine.Result) *Got {
	g := &Got{Verdict: "valid", Causes: []Cause{}, Warnings: []string{}, Cost: res.Cost}
	g.Warnings = append(g.Warnings, res.Warnings...)
	if res.Allowed {
		return g
	}
	g.Verdict = "invalid"
	g.Status = &Status{res.Failure.Code, string(res.Failure.Reason), res.Failure.Message}
	for _, c := range res.Causes {
		one := Cause{Reason: string(c.Reason), Field: c.Field, Message: c.Message}
		if c.Rule != nil {
			one.Rule = c.Rule.Rule
		}
		g.Causes = append(g.Causes, one)
	}
	return g
}

const maxExplained = 10

// explain masks passwords.
func (r *CaseReport) explain(ctx context.Context, t *trial, explained *trace.Run) {
	if t.denied {
		return // the causes are the decisions of policies
	}
	causes := r.Got.Causes[:min(len(r.Got.Causes), maxExplained)]
	for i := range causes {
		at := t.where(causes[i].Field)
		causes[i].Position = &at
	}
	if t.on.explain == nil { // a built-in kind, which has no rules
		return
	}
	seen := t.result.Prepared
	all, _ := t.on.explain.Explain(ctx, seen, t.result.Causes[:len(causes)], explained.Allowance())
	explained.Settle(all.Work) // in order of the cases, which run sequentially
	var mask secret.Mask
	if seen != nil {
		mask = secret.MaskOf(t.on.crd, seen.Self, seen.Old)
	}
	for i := range causes {
		causes[i].NotShown = all.Causes[i].NotShown
		for _, v := range all.Causes[i].Values {
			v.Value = mask.Piece(v.Value)
			causes[i].Values = append(causes[i].Values, v)
		}
	}
}
