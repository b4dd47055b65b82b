package vet

import (
	"cmp"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/policyvet"
)

func (p *textPrinter) policy(one *vettedPolicy) error {
	if p.quiet && one.accepted() {
		return nil
	}
	var b strings.Builder
	if p.written && !p.quiet {
		b.WriteByte('\n')
	}
	p.written = true
	r := one.policy
	head := untrusted.Sprintf("%s %s: ", r.Kind, r.Name)
	switch rejecting := one.rejecting(); {
	case one.accepted() && r.MinKubeVersion != "":
		untrusted.Fprintf(&b, "%s%s, from Kubernetes %s\n", head, p.out.Paint(untrusted.Green, "accepted"), r.MinKubeVersion)
	case one.accepted():
		untrusted.Fprintf(&b, "%s%s\n", head, p.out.Paint(untrusted.Green, "accepted"))
	case len(rejecting) > 0:
		untrusted.Fprintf(&b, "%s%s\n", head, p.out.Paint(untrusted.Red, untrusted.Line("rejected by Kubernetes "+strings.Join(rejecting, ", "))))
	default:
		untrusted.Fprintf(&b, "%s%s\n", head, p.out.Paint(untrusted.Red, "rejected"))
	}
	for _, f := range one.findings(p.excerpt()) {
		if !p.quiet || f.level == "error" {
			p.policyFinding(&b, &f)
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

func (p *textPrinter) policyFinding(b *strings.Builder, f *crdFinding) {
	kind, color := untrusted.Safe("lint "), untrusted.Yellow
	switch f.id {
	case invalidPolicy:
		kind, color = "", untrusted.Red
	case typeCheck:
		kind = "warning "
	}
	head := untrusted.Sprintf("%s%s: ", kind, p.out.Paint(color, untrusted.Line(f.id)))
	lines := strings.Split(string(print.Sentence(f.message)), "\n")
	p.line(b, 2, head+untrusted.Safe(lines[0]))
	for _, line := range lines[1:] {
		b.WriteString("    " + line + "\n")
	}
	if f.at.Field == "" {
		untrusted.Fprintf(b, "  --> %s:%d\n", f.at.File, f.at.Line)
	} else {
		f.at.Show(b)
	}
	for _, line := range f.shown {
		if source, ok := strings.CutPrefix(line, expressionLabel); !ok || !strings.Contains(f.at.Excerpt.Line, source) {
			p.line(b, 8, untrusted.Line(line))
		}
	}
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
	if len(parts) == 0 {
		return "0"
	}
	return untrusted.Safe(strings.Join(parts, "; "))
}

// costText returns a cost with its share of a limit.
func costText(cost, limit uint64) untrusted.Safe {
	if cost > policyvet.Unbounded {
		return untrusted.Sprintf("unbounded, limit %s", formatNumber(limit))
	}
	return untrusted.Sprintf("%s of %s (%s)", formatNumber(cost), formatNumber(limit), share(cost, limit))
}

// The IDs of findings about policies that are not lints.
const (
	invalidPolicy = "invalid-policy"
	typeCheck     = "type-check"
)

// expressionLabel precedes the expression in the details of a finding.
const expressionLabel = "expression: "

// findings returns the errors, warnings, and lints of a policy. width is the width of excerpts.
func (one *vettedPolicy) findings(width int) (list []crdFinding) {
	var paths []string
	add := func(path, expression string, f crdFinding) {
		if expression != "" {
			f.shown = append(f.shown, expressionLabel+string(oneLine(expression, maxShownExpression)))
		}
		list, paths = append(list, f), append(paths, path)
	}
	for _, e := range one.errors() {
		message := e.Message
		if e.Path != "" {
			message = e.Path + ": " + message
		}
		add(e.Path, e.Expression, crdFinding{id: invalidPolicy, description: "A check of the API server", level: "error", message: message})
	}
	for _, w := range one.policy.Warnings {
		if w.Harmless {
			continue
		}
		add(w.Path, w.Expression, crdFinding{id: typeCheck, description: "An expression that does not fit the type of objects", level: "warning", message: w.Message})
	}
	for _, l := range one.policy.Lints {
		add(l.Path, l.Expression, crdFinding{id: l.Name, description: "An accepted definition that causes problems later", level: "warning", message: l.Message})
	}
	for i, at := range one.at(paths, width) {
		list[i].at = at
	}
	return list
}

// maxShownExpression limits the width of an expression below a finding.
const maxShownExpression = 200

func (p *listPrinter) policy(one *vettedPolicy) error {
	return p.list.Add(finding.Result{Findings: one.listed, Cases: one.cases})
}

// listed yields the findings for a list.
func (one *vettedPolicy) listed(yield func(finding.Finding) bool) {
	for _, f := range one.findings(0) {
		if !yield(f.listed(one.policy.Kind + " " + one.policy.Name)) {
			return
		}
	}
}
