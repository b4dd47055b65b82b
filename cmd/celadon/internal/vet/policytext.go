package vet

import (
	"cmp"
	"slices"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
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
	for _, f := range one.findings(p.excerpt()) {
		if !p.quiet || f.Level == "error" {
			p.finding(&b, &f)
		}
	}
	if p.quiet {
		return p.write(&b)
	}
	if n := one.harmless(); n > 0 {
		p.line(&b, 2, untrusted.Safe("the server also prints "+phrase.Count(n, "type warning")+" without effect (-o json has them)"))
	}
	p.estimates(&b, r)
	if r.Limited != "" {
		p.line(&b, 2, untrusted.Line(r.Limited))
	}
	return p.write(&b)
}

// estimates writes the cost for the most expensive kind or, with --all, for every kind with its
// expressions.
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

// estimateParts returns the costs that are not zero.
func estimateParts(e *policyvet.Estimate) untrusted.Safe {
	var parts []string
	add := func(name string, cost, budget uint64) {
		if cost > 0 {
			parts = append(parts, name+string(costText(cost, budget)))
		}
	}
	add("", e.Validations, e.Budget)
	add("of matchConditions ", e.Conditions, e.ConditionsBudget)
	add("of auditAnnotations ", e.Annotations, e.Budget)
	for _, x := range e.Expressions {
		if x.Cost > x.Limit {
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

// findings returns the errors, warnings, and lints of a policy. width is the width of excerpts.
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

// maxShownExpression limits the width of an expression below a finding.
const maxShownExpression = 200

func (p *listPrinter) policy(one *vettedPolicy) error {
	findings := one.findings(0)
	r := one.policy
	return p.add(one.doc.File, findings, func() junit.Testcase {
		return testcase(untrusted.Line(r.Name), untrusted.Line(r.Kind), findings)
	})
}
