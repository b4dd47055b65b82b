package vet

import (
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/policyvet"
)

// policyReport is a policy, binding, or webhook configuration in JSON.
type policyReport struct {
	File      string              `json:"file"`
	Document  int                 `json:"document"`
	Item      int                 `json:"item"`
	Line      int                 `json:"line"`
	Kind      string              `json:"kind"`
	Name      string              `json:"name"`
	Accepted  bool                `json:"accepted"`
	Errors    []policyProblem     `json:"errors"`
	Warnings  []policyProblem     `json:"warnings"`
	Lints     []policyProblem     `json:"lints"`
	Estimates []policyEstimate    `json:"estimates"`
	Minimum   string              `json:"minKubeVersion,omitempty"`
	Versions  []policyKubeVersion `json:"kubeVersions,omitempty"`
	Limited   string              `json:"limited,omitempty"`
}

// policyProblem is an error, a warning, or a lint. Lint is only set for lints.
type policyProblem struct {
	Lint       string `json:"lint,omitempty"`
	Path       string `json:"path"`
	Expression string `json:"expression,omitempty"`
	Message    string `json:"message"`
	File       string `json:"file,omitempty"`
	Line       int    `json:"line,omitempty"`
	Column     int    `json:"column,omitempty"`
	// Harmless is only set for warnings.
	Harmless bool `json:"harmless,omitempty"`
}

type policyEstimate struct {
	Kind             string               `json:"kind"`
	Fits             bool                 `json:"fits"`
	Incomplete       bool                 `json:"incomplete,omitempty"`
	Validations      uint64               `json:"validations"`
	Budget           uint64               `json:"budget"`
	Conditions       uint64               `json:"matchConditions"`
	ConditionsBudget uint64               `json:"matchConditionsBudget"`
	Annotations      uint64               `json:"auditAnnotations"`
	Expressions      []expressionEstimate `json:"expressions"`
}

type expressionEstimate struct {
	Path  string `json:"path"`
	Cost  uint64 `json:"estimatedCost"`
	Limit uint64 `json:"limit"`
}

type policyKubeVersion struct {
	Version  string          `json:"version"`
	Accepted bool            `json:"accepted"`
	Errors   []policyProblem `json:"errors"`
}

func (p *jsonPrinter) policy(one *vettedPolicy) error {
	r := one.policy
	rep := policyReport{
		File: one.doc.File, Document: one.doc.Index, Item: one.doc.Item, Line: one.doc.Line, Kind: r.Kind, Name: r.Name, Accepted: one.accepted(),
		Errors: []policyProblem{}, Warnings: []policyProblem{}, Lints: []policyProblem{}, Estimates: []policyEstimate{}, Minimum: r.MinKubeVersion, Limited: r.Limited,
	}
	for _, e := range one.errors() {
		rep.Errors = append(rep.Errors, policyProblem{Path: e.Path, Expression: e.Expression, Message: e.Message})
	}
	for _, w := range r.Warnings {
		rep.Warnings = append(rep.Warnings, policyProblem{Path: w.Path, Expression: w.Expression, Message: w.Message, Harmless: w.Harmless})
	}
	for _, l := range r.Lints {
		rep.Lints = append(rep.Lints, policyProblem{Lint: l.Name, Path: l.Path, Expression: l.Expression, Message: l.Message})
	}
	for _, list := range [][]policyProblem{rep.Errors, rep.Warnings, rep.Lints} {
		one.locate(list)
	}
	for i := range r.Estimates {
		rep.Estimates = append(rep.Estimates, newPolicyEstimate(&r.Estimates[i]))
	}
	for _, v := range r.KubeVersions {
		k := policyKubeVersion{Version: v.Version, Accepted: v.Accepted, Errors: []policyProblem{}}
		for _, e := range v.Errors {
			k.Errors = append(k.Errors, policyProblem{Path: e.Path, Message: e.Message})
		}
		rep.Versions = append(rep.Versions, k)
	}
	p.policies = append(p.policies, rep)
	return nil
}

func newPolicyEstimate(e *policyvet.Estimate) policyEstimate {
	rep := policyEstimate{
		Kind: e.Kind, Fits: e.Fits(), Incomplete: e.Incomplete, Validations: e.Validations, Budget: e.Budget, Conditions: e.Conditions, ConditionsBudget: e.ConditionsBudget,
		Annotations: e.Annotations, Expressions: []expressionEstimate{},
	}
	for _, x := range e.Expressions {
		rep.Expressions = append(rep.Expressions, expressionEstimate{x.Path, x.Cost, x.Limit})
	}
	return rep
}

// locate sets the positions of problems whose field is found.
func (one *vettedPolicy) locate(list []policyProblem) {
	paths := make([]string, len(list))
	for i := range list {
		paths[i] = list[i].Path
	}
	for i, at := range one.inYAML(paths, 0) {
		if at.Line > 0 {
			list[i].File, list[i].Line, list[i].Column = at.File, at.Line, at.Column
		}
	}
}

// cases returns the policy as a test case. Errors are its failure. Warnings and lints are its output.
func (one *vettedPolicy) cases() (file string, cases []junit.Testcase) {
	r := one.policy
	c := junit.Testcase{Name: string(untrusted.Line(r.Name)), Classname: string(untrusted.Line(r.Kind))}
	var rejected, warned []string
	for _, f := range one.findings(0) {
		if text := string(f.text()); f.level == "error" {
			rejected = append(rejected, text)
		} else {
			warned = append(warned, text)
		}
	}
	if len(rejected) > 0 {
		c.Failure = print.JUnitResult(print.Sentence(one.errors()[0].Message), "Invalid", untrusted.Safe(strings.Join(rejected, "")))
	}
	if len(warned) > 0 {
		c.SystemOut = &junit.Output{Data: strings.TrimSuffix(strings.Join(warned, ""), "\n")}
	}
	return one.doc.File, []junit.Testcase{c}
}
