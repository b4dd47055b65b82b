package vet

import (
	"cmp"
	"slices"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint/table"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/policyvet"
)

func (p *textPrinter) policy(one *vettedPolicy) error {
	if p.quiet && one.accepted() {
		return nil
	}
	var b strings.Builder
	p.separate(&b)
	r := one.policy
	verdict := p.out.Paint(untrusted.Red, "rejected")
	if rejecting := one.rejecting(); one.accepted() {
		verdict = p.accepted(r.MinKubeVersion)
	} else if len(rejecting) > 0 {
		verdict = p.out.Paint(untrusted.Red, untrusted.Line("rejected by Kubernetes "+strings.Join(rejecting, ", ")))
	}
	untrusted.Fprintf(&b, "%s %s: %s\n", r.Kind, r.Name, verdict)
	for _, f := range one.findings(p.width) {
		if !p.quiet || f.Level == "error" {
			p.finding(&b, &f)
		}
	}
	if p.quiet {
		return p.write(&b)
	}
	if n, hints := one.harmless(); n > 0 {
		p.line(&b, 2, untrusted.Safe("the server also prints "+phrase.Count(n, "type warning")+" about expressions that do not fail (-o json has them)"))
		for _, hint := range hints {
			p.line(&b, 4, untrusted.Line(hint))
		}
	}
	p.estimates(&b, r)
	if r.Limited != "" {
		p.line(&b, 2, untrusted.Line(r.Limited))
	}
	return p.write(&b)
}

func (p *textPrinter) estimates(b *strings.Builder, r *policyvet.Report) {
	if !r.Accepted {
		return
	}
	list := slices.DeleteFunc(slices.Clone(r.Estimates), func(e policyvet.Estimate) bool { return e.Incomplete })
	slices.SortStableFunc(list, func(x, y policyvet.Estimate) int { return cmp.Compare(y.Validations, x.Validations) })
	for i := range list {
		e := &list[i]
		if i > 0 && !p.all {
			p.line(b, 2, untrusted.Safe("… and "+phrase.Count(len(list)-1, "more kind")+" at most as expensive (--all shows every kind)"))
			return
		}
		p.line(b, 2, untrusted.Sprintf("%s: estimated cost %s", e.Kind, estimateParts(e)))
		if !p.all {
			continue
		}
		for _, x := range e.Expressions {
			p.line(b, 4, untrusted.Sprintf("%s: %s", x.Path, costText(x.Cost, x.Limit)))
		}
	}
}

func estimateParts(e *policyvet.Estimate) untrusted.Safe {
	var parts []string
	add := func(name string, cost, budget uint64) {
		if cost > 0 {
			parts = append(parts, name+string(costText(cost, budget)))
		}
	}
	add("", e.Validations, e.Budget)
	if e.Budget == 0 { // each expression has a budget of its own
		x := slices.MaxFunc(e.Expressions, func(x, y policyvet.ExpressionEstimate) int { return cmp.Compare(x.Cost, y.Cost) })
		add("of "+x.Path+" ", x.Cost, x.Limit)
	}
	add("of matchConditions ", e.Conditions, e.ConditionsBudget)
	add("of auditAnnotations ", e.Annotations, e.Budget)
	for _, x := range e.Expressions {
		if e.Budget > 0 && x.Cost > x.Limit {
			add("of "+x.Path+" alone ", x.Cost, x.Limit)
			break // --all has the others
		}
	}
	if len(parts) == 0 {
		return "0"
	}
	return untrusted.Safe(strings.Join(parts, "; "))
}

func costText(cost, limit uint64) untrusted.Safe {
	if cost > policyvet.Unbounded {
		return untrusted.Sprintf("unbounded, limit %s", formatNumber(limit))
	}
	return untrusted.Sprintf("%s of %s (%s)", formatNumber(cost), formatNumber(limit), share(cost, limit))
}

func (one *vettedPolicy) findings(width int) (list []finding.Finding) {
	add := func(id, description, level string, problems []policyProblem) {
		for _, p := range problems {
			if p.Harmless {
				continue
			}
			f := finding.Finding{
				ID: cmp.Or(p.Lint, id), Description: description, Level: level, At: p.at, Message: p.Message,
				Subject: []string{one.doc.File, one.policy.Kind + " " + one.policy.Name},
			}
			if level == "error" && p.Path != "" {
				f.Message = p.Path + ": " + f.Message
			}
			if !strings.Contains(p.at.Excerpt.Line, p.Expression) {
				f.Details = []string{"expression: " + string(oneLine(p.Expression, maxShownExpression))}
			}
			if p.Hint != "" {
				f.Details = append(f.Details, "hint: "+p.Hint)
			}
			if p.Fixed != "" {
				f.Details = append(f.Details, strings.Split("try:  "+strings.ReplaceAll(p.Fixed, "\n", "\n      "), "\n")...)
			}
			list = append(list, f)
		}
	}
	errors, warnings, lints := one.problems(width)
	add("invalid-policy", "A check of the API server", "error", errors)
	add("type-check", "An expression that does not fit the type of objects", "warning", warnings)
	add("", lintDescription, "warning", lints)
	return list
}

const maxShownExpression = 200

func (p *listPrinter) policy(one *vettedPolicy) error {
	findings := one.findings(0)
	r := one.policy
	return p.add(one.doc.File, findings, func() junit.Testcase {
		return testcase(untrusted.Line(r.Name), untrusted.Line(r.Kind), findings)
	})
}

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
	Harmless   bool   `json:"harmless,omitempty"`

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
		if hint, point := table.Cut(one.doc.Value(e.Path), e.offset); e.Expression != "" && hint != "" {
			e.Hint, e.Fixed, e.offset = hint, "", point
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
	if p.Path != "" || one.of == nil {
		return
	}
	if bad := hint.MistypedAs(one.excerpts(width), one.of); len(bad) > 0 {
		p.Path, p.Hint = bad[0].Field, bad[0].Hint
	}
}
