package vet

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint"
	"github.com/celadon-cel/celadon/x/analysis/policyvet"
)

// policyReport is a policy, binding, or webhook configuration in JSON.
type policyReport struct {
	File      string                  `json:"file"`
	Document  int                     `json:"document"`
	Item      int                     `json:"item"`
	Line      int                     `json:"line"`
	Kind      string                  `json:"kind"`
	Name      string                  `json:"name"`
	Accepted  bool                    `json:"accepted"`
	Errors    []policyProblem         `json:"errors"`
	Warnings  []policyProblem         `json:"warnings"`
	Lints     []policyProblem         `json:"lints"`
	Estimates []policyEstimate        `json:"estimates"`
	Minimum   string                  `json:"minKubeVersion,omitempty"`
	Versions  []policyvet.KubeVersion `json:"kubeVersions,omitempty"`
	Limited   string                  `json:"limited,omitempty"`
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
	Hint       string `json:"hint,omitempty"`
	Fixed      string `json:"fixed,omitempty"`
	// Harmless is only set for warnings.
	Harmless bool `json:"harmless,omitempty"`

	at     finding.Location // of the document if the field is not found
	offset int
}

type policyEstimate struct {
	policyvet.Estimate
	Fits bool `json:"fits"`
}

func (p *jsonPrinter) policy(one *vettedPolicy) error {
	r := one.policy
	rep := policyReport{
		File: one.doc.File, Document: one.doc.Index, Item: one.doc.Item, Line: one.doc.Line, Kind: r.Kind, Name: r.Name,
		Accepted: one.accepted(), Estimates: []policyEstimate{}, Minimum: r.MinKubeVersion, Limited: r.Limited,
		Versions: r.KubeVersions,
	}
	rep.Errors, rep.Warnings, rep.Lints = one.problems(0)
	for _, e := range r.Estimates {
		notNull(&e.Expressions)
		rep.Estimates = append(rep.Estimates, policyEstimate{e, e.Fits()})
	}
	for i := range r.KubeVersions {
		notNull(&r.KubeVersions[i].Errors)
	}
	p.policies = append(p.policies, rep)
	return nil
}

func newProblem(path, expression, message string, advice *policyvet.Advice) policyProblem {
	return policyProblem{Path: path, Expression: expression, Message: message, Hint: advice.Hint, Fixed: advice.Fixed, offset: advice.Offset}
}

// problems returns the errors, warnings, and lints with their locations. width is the width of excerpts.
func (one *vettedPolicy) problems(width int) (errors, warnings, lints []policyProblem) {
	errors, warnings, lints = []policyProblem{}, []policyProblem{}, []policyProblem{}
	for _, e := range one.errors() {
		errors = append(errors, newProblem(e.Path, e.Expression, e.Message, &e.Advice))
	}
	for _, w := range one.policy.Warnings {
		p := newProblem(w.Path, w.Expression, w.Message, &w.Advice)
		p.Harmless = w.Harmless
		warnings = append(warnings, p)
	}
	for _, l := range one.policy.Lints {
		p := newProblem(l.Path, l.Expression, l.Message, &l.Advice)
		p.Lint = l.Name
		lints = append(lints, p)
	}
	for i := range errors {
		e := &errors[i]
		one.locateMistyped(e, width)
		if hint := hint.Cut(one.doc.Value(e.Path), e.offset); e.Expression != "" && hint != "" {
			e.Hint, e.Fixed = hint, ""
		}
	}
	for _, list := range [][]policyProblem{errors, warnings, lints} {
		for i, at := range one.inYAML(pathsOf(list, func(p policyProblem) string { return p.Path }), width) {
			p := &list[i]
			if p.File, p.Line, p.Column, p.at = at.File, at.Line, at.Column, at; at.Line == 0 || p.Path == "" {
				p.at = one.crdLocation()
				p.at.Field = p.Path
			}
			if in, ok := one.doc.Inside(p.Path, p.offset); ok && at.Line > 0 && p.Expression != "" {
				p.Line, p.Column, p.at.Line, p.at.Column = in.Line, in.Column, in.Line, in.Column
				if i < excerpt.Shown {
					p.at.Excerpt = one.excerpts(width).At(in)
				}
			}
		}
	}
	return errors, warnings, lints
}

// locateMistyped adds the path of the value that keeps the document from being decoded, and a hint.
func (one *vettedPolicy) locateMistyped(p *policyProblem, width int) {
	kinds := runtime.NewScheme()
	if p.Path != "" || admissionregistrationv1.AddToScheme(kinds) != nil {
		return
	}
	of := kinds.AllKnownTypes()[admissionregistrationv1.SchemeGroupVersion.WithKind(one.doc.Identity().Kind)]
	if of == nil {
		return
	}
	if bad := hint.MistypedAs(one.excerpts(width), of); len(bad) > 0 {
		p.Path, p.Hint = bad[0].Field, bad[0].Hint
	}
}
