package vet

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/lint"
	"github.com/celadon-cel/celadon/x/assist"
)

func (one *vetted) crdLocation() finding.Location {
	return finding.Location{File: one.doc.File, Line: one.doc.Line}
}

func (one *vetted) name() string {
	if one.report == nil {
		return ""
	}
	return one.report.Name
}

func (one *vetted) findings(width int) (list []finding.Finding) {
	whole := one.crdLocation()
	add := func(f finding.Finding) {
		if f.At.Line == 0 {
			f.At.File, f.At.Line = whole.File, whole.Line
		}
		f.Subject = []string{f.At.File, one.name()}
		list = append(list, f)
	}
	if one.problem != nil {
		add(finding.Finding{
			ID: unreadable, Description: "A document that cannot be read as a CustomResourceDefinition",
			Level: "error", Message: one.problem.Error(),
		})
		return list
	}
	r := one.report
	if r.Status != nil && len(r.Causes) == 0 {
		add(one.statusFinding(width))
	}
	causes := one.causes(width)
	for i := range causes {
		add(causeFinding(&causes[i]))
	}
	if r.Undecided != nil {
		add(finding.Finding{
			ID: undecided, Description: "A CRD that exceeds the work limit", Level: "error",
			Message: r.Undecided.Error(),
		})
	}
	for _, c := range one.following(causes, width) {
		f := causeFinding(&c)
		f.Level, f.Message = "note", print.Follows+f.Message
		add(f)
	}
	if f, ok := one.kubeVersionFinding(); ok {
		add(f)
	}
	for _, w := range r.Warnings {
		add(finding.Finding{ID: "warning", Description: "A warning of the API server", Level: "warning", Message: w})
	}
	for _, f := range one.lintFindings(width) {
		add(f)
	}
	for _, v := range r.Versions {
		for i, at := range one.adviceLocations(v.Advice) {
			a := &v.Advice[i]
			at.Field = a.Field + "." + a.Set
			add(finding.Finding{
				ID: "advice", Description: "A bound that makes rules fit", Level: "note", At: at,
				Message: fmt.Sprintf("%s: %s: set %s: %d", v.Name, phrase.Path(a.Path), a.Set, a.Value),
			})
		}
	}
	return list
}

func (one *vetted) lintFindings(width int) (list []finding.Finding) {
	for i, at := range one.lintLocations(width) {
		l := &one.lints[i]
		at.Field = l.Path + " " + l.Rule // identifies the lint even if rules are inserted before it
		list = append(list, finding.Finding{
			ID: l.Name, Description: lintDescription, Level: "warning", At: at,
			Message: l.Message, Expression: l.Rule, Details: shown(l), Lint: &l.Lint,
		})
	}
	return list
}

const (
	unreadable = "unreadable"
	undecided  = "undecided"
)

const lintDescription = "An accepted definition that causes problems later"

func (one *vetted) statusFinding(width int) finding.Finding {
	s := one.report.Status
	f := finding.Finding{
		ID: string(s.Reason), Description: "A request that the API server cannot process", Level: "error",
		Message: s.Message,
	}
	strict := one.strict(width)
	if len(strict) > 0 {
		f.At = strict[0]
	}
	for _, at := range strict {
		if at.Hint != "" {
			f.Details = append(f.Details, at.Field+": "+at.Hint)
		}
	}
	if c := one.panic(width); c != nil {
		f.Message, f.Expression, f.Rule, f.At = f.Message+" "+c.Message, c.Rule, c.Ref, c.Location()
	}
	return f
}

func causeFinding(c *finding.Cause) finding.Finding {
	hints := *c
	if c.Message == "" {
		hints.Summary = ""
	}
	f := finding.Finding{
		ID: c.Reason, Description: "A check of the API server: " + c.Reason, Level: "error", At: c.Location(),
		Message: c.Field + ": " + cmp.Or(c.Message, c.Summary), Expression: c.Rule, Details: print.HintLines(&hints),
		Rule: c.Ref, Kind: c.Kind,
	}
	if known, ok := assist.Find(c.Code); ok {
		f.ID, f.Description, f.Code = c.Code, known.Cause, c.Code
	}
	return f
}

type listPrinter struct {
	list print.List
	// cases is set if the format has a case for each CRD and policy.
	cases bool
	quiet bool
}

func (p *listPrinter) crd(one *vetted) error {
	findings := one.findings(0)
	return p.add(one.doc.File, findings, func() junit.Testcase {
		c := testcase(one.caseName(), "CustomResourceDefinition", findings)
		if one.problem == nil && one.report.Status != nil {
			c.Failure.Message = strings.TrimSpace(string(print.KubectlError(one.kubectl(0))))
			c.Failure.Type = string(untrusted.Line(string(one.report.Status.Reason)))
		}
		return c
	})
}

func (p *listPrinter) add(file string, findings []finding.Finding, c func() junit.Testcase) error {
	return p.list.Add(finding.Result{
		Findings: func(yield func(finding.Finding) bool) {
			for _, f := range findings {
				if (f.Level == "error" || !p.quiet) && !yield(f) {
					return
				}
			}
		},
		Cases: func() (string, []junit.Testcase) { return file, []junit.Testcase{c()} },
	})
}

func (p *listPrinter) end(s *summary) error {
	return p.list.End(print.End{Text: s.String() + "\n", Interrupted: s.Interrupted})
}

func testcase(name, class untrusted.Safe, findings []finding.Finding) junit.Testcase {
	c := junit.Testcase{Name: string(name), Classname: string(class)}
	var errors, others strings.Builder
	var first *finding.Finding
	for i := range findings {
		b := &others
		if findings[i].Level == "error" {
			b, first = &errors, cmp.Or(first, &findings[i])
		}
		print.Show(b, untrusted.Line(findings[i].ID), &findings[i])
	}
	if first != nil {
		text := untrusted.Safe(errors.String())
		if message := print.Sentence(first.Message); first.ID == unreadable || first.ID == undecided {
			c.Error = print.JUnitResult(message, untrusted.Safe(first.ID), text)
		} else {
			c.Failure = print.JUnitResult(message, "Invalid", text)
		}
	}
	if others.Len() > 0 {
		c.SystemOut = &junit.Output{Data: strings.TrimSuffix(others.String(), "\n")}
	}
	return c
}

func (one *vetted) caseName() untrusted.Safe {
	if one.name() == "" {
		return untrusted.Safe(fmt.Sprintf("document %d, item %d", one.doc.Index, one.doc.Item))
	}
	return untrusted.Line(one.name())
}

func describeRewrite(m *lint.Rewrite) string {
	switch {
	case m.Effect == lint.Wanted:
		return "that decides other objects differently (check it)"
	case m.Effect == lint.Equivalent && m.Proof != nil:
		return "that is equivalent (proved: " + m.Proof.String() + ")"
	case m.Effect == lint.Equivalent:
		return fmt.Sprintf("that is equivalent (same result for each of %s)", phrase.Count(m.Searched, "object"))
	}
	does := "that accepts more than now"
	if m.Keeps {
		does = "that rejects it with the rule's own message"
	}
	if m.Proof != nil && len(m.Proof.Siblings) > 0 {
		return does + " (fails only on objects that other rules reject as well, proved: " + m.Proof.String() + ")"
	}
	if m.Proof != nil {
		return does + " (does not fail if nothing else changes, proved: " + m.Proof.String() + ")"
	}
	return fmt.Sprintf("%s (did not fail on any of %s)", does, phrase.Count(m.Searched, "object"))
}

// shown returns the details of a lint: its example object and rewrites of the rule.
func shown(l *lint.Lint) (lines []string) {
	add := func(head, text string) {
		lines = append(lines, head)
		for line := range strings.Lines(text) {
			lines = append(lines, "  "+strings.TrimSuffix(line, "\n"))
		}
	}
	if w := l.Witness; w != nil {
		if w.Old != nil {
			add("old object:", print.Document(w.Old))
		}
		add(fmt.Sprintf("on this object (%s):", w.Operation), print.Document(w.Object))
	}
	for _, path := range l.MadeUp {
		lines = append(lines, path+" is a placeholder: its format is password")
	}
	for i := range l.Rewrites {
		add(fmt.Sprintf("fix %s:", describeRewrite(&l.Rewrites[i])), l.Rewrites[i].Rule)
	}
	return lines
}
