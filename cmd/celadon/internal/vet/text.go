package vet

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

type textPrinter struct {
	out   *untrusted.Writer
	all   bool
	quiet bool
	// width is the width of the terminal, or 0 if it is unknown.
	width   int
	written bool
}

func newText(terminal io.Writer, out *untrusted.Writer, o *Options) *textPrinter {
	out.Colors = command.Color(terminal)
	p := &textPrinter{out: out, all: o.All, quiet: o.Quiet}
	p.width, _ = command.Width(terminal)
	return p
}

func (p *textPrinter) crd(one *vetted) error {
	var b strings.Builder
	p.separate(&b)
	if one.problem != nil {
		untrusted.Fprintf(&b, "%s: %s\n", one.doc.Location(), one.problem.Error())
		return p.write(&b)
	}
	if !p.quiet || !one.accepted() {
		p.verdict(&b, one)
	}
	if p.quiet {
		return p.write(&b)
	}
	p.kubeVersions(&b, one)
	for _, v := range versions(one.report) {
		p.version(&b, one, &v)
	}
	p.needs(&b, one.report)
	for _, f := range one.lintFindings(p.width) {
		if f.At.Field = f.Lint.Field; f.Expression != "" {
			f.At.Field = phrase.Rule(f.Lint.Path, f.Lint.Index)
		}
		p.finding(&b, &f)
	}
	if one.report.Accepted {
		o := &finding.Object{File: one.doc.File, Line: one.doc.Line, Following: one.following(nil, p.width)}
		print.Following(&b, o)
	}
	return p.write(&b)
}

func (p *textPrinter) separate(b *strings.Builder) {
	if p.written && !p.quiet {
		b.WriteByte('\n')
	}
	p.written = true
}

func (p *textPrinter) write(b *strings.Builder) error {
	_, err := io.WriteString(p.out, print.Layout{Color: p.out.Colors, Width: p.width}.Text(b.String()))
	return err
}

func (p *textPrinter) finding(b *strings.Builder, f *finding.Finding) { print.Show(b, p.head(f), f) }

func (p *textPrinter) head(f *finding.Finding) untrusted.Safe {
	level, color := f.Level, untrusted.Yellow
	switch {
	case f.Level == "error":
		color = untrusted.Red
	case f.Level == "note":
		color = untrusted.Green
	case f.Description == lintDescription:
		level = "lint"
	}
	return untrusted.Line(level) + " " + p.out.Paint(color, untrusted.Line(f.ID))
}

func (p *textPrinter) verdict(b *strings.Builder, one *vetted) {
	r := one.report
	for _, w := range r.Warnings {
		if !p.quiet {
			untrusted.Fprintf(b, "Warning: %s\n", w)
		}
	}
	switch {
	case one.accepted():
		untrusted.Fprintf(b, "%s: %s\n", r.Name, p.accepted(r.MinKubeVersion))
		p.names(b, one)
	case r.Accepted || one.undecided():
		text := untrusted.Safe("rejected by some Kubernetes versions")
		if one.undecided() {
			text = untrusted.Line(r.Undecided.Error())
		}
		untrusted.Fprintf(b, "%s: %s\n  --> %s\n", r.Name, p.out.Paint(untrusted.Red, text), one.doc.Location())
	default:
		o := one.kubectl(p.width)
		text := untrusted.Safe(strings.TrimRight(string(print.KubectlError(o)), "\n"))
		if b.WriteString(string(p.out.Paint(untrusted.Red, text)) + "\n"); p.quiet {
			return
		}
		o.Strict, o.Following = one.strict(p.width), one.following(o.Causes, p.width)
		if r.Undecided != nil {
			p.line(b, 2, "there may be more errors: "+untrusted.Line(r.Undecided.Error()))
		}
		if at := one.panic(p.width); at != nil {
			p.line(b, 2, untrusted.Line(at.Message))
			o.Causes = append(o.Causes, *at)
		}
		print.Where(b, o)
	}
}

// minimum is the lowest Kubernetes version, or "".
func (p *textPrinter) accepted(minimum string) untrusted.Safe {
	text := p.out.Paint(untrusted.Green, "accepted")
	if minimum != "" {
		text += untrusted.Sprintf(", from Kubernetes %s", minimum)
	}
	return text
}

func (p *textPrinter) names(b *strings.Builder, one *vetted) {
	var parts []string
	for _, of := range []struct{ list, name string }{{"shortNames", "short names"}, {"categories", "categories"}} {
		if names := one.names(of.list); len(names) > 0 {
			parts = append(parts, of.name+": "+strings.Join(names, ", "))
		}
	}
	if len(parts) > 0 {
		p.line(b, 2, untrusted.Line(strings.Join(parts, "; ")))
	}
}

// kubectl returns a rejected CRD as an object of celadon check.
func (one *vetted) kubectl(width int) *finding.Object {
	s := one.report.Status
	o := &finding.Object{
		File: one.doc.File, Line: one.doc.Line, Causes: one.causes(width), Operation: one.operation,
		Status:    &finding.Status{Code: s.Code, Reason: string(s.Reason), Message: s.Message},
		Duplicate: one.doc.Duplicate != nil && s.Code == 400,
	}
	o.Kind, o.Name = "CustomResourceDefinition", one.report.Name
	return o
}

// versions returns the versions that have rules. It combines those with the same rules at the same costs.
func versions(r *vet.Report) (list []vet.Version) {
	for _, v := range r.Versions {
		if i := slices.IndexFunc(list, func(o vet.Version) bool { return sameRules(o, v) }); i >= 0 {
			list[i].Name += ", " + v.Name
		} else if len(v.Rules) > 0 {
			list = append(list, v)
		}
	}
	return list
}

func sameRules(a, b vet.Version) bool {
	return slices.EqualFunc(a.Rules, b.Rules, func(x, y vet.Rule) bool {
		return x.Path == y.Path && x.Rule == y.Rule && x.MessageExpression == y.MessageExpression && x.Broken == y.Broken &&
			x.EstimatedTotal == y.EstimatedTotal && x.MessageExpressionCost == y.MessageExpressionCost && slices.Equal(x.Factors, y.Factors)
	})
}

const maxRows = 10

func (p *textPrinter) version(b *strings.Builder, one *vetted, v *vet.Version) {
	p.line(b, 2, untrusted.Sprintf("%s: %s, estimated cost %s of %s (%s)%s", v.Name, phrase.Count(len(v.Rules), "rule"), formatNumber(v.EstimatedCost), formatNumber(v.Limit), share(v.EstimatedCost, v.Limit), p.bar(v.EstimatedCost, v.Limit)))
	rows, more := p.rows(v), 0
	if !p.all && len(rows) > maxRows {
		rows, more = rows[:maxRows], len(rows)-maxRows
	}
	p.table(b, rows)
	if more > 0 {
		untrusted.Fprintf(b, "    … and %d more that cost less (--all shows them)\n", more)
	}
	p.why(b, one, v)
}

// needs writes each function and field once, with its first path, or with --all for each path.
func (p *textPrinter) needs(b *strings.Builder, r *vet.Report) {
	for i, n := range r.Needs {
		same := func(o vet.Need) bool {
			return o.Part == n.Part && o.KubeVersion == n.KubeVersion && o.Silent == n.Silent
		}
		if !p.all && slices.ContainsFunc(r.Needs[:i], same) {
			continue
		}
		text, paths := untrusted.Line(n.String()), map[string]bool{}
		for _, o := range r.Needs[i:] {
			if same(o) {
				paths[o.Path] = true
			}
		}
		if more := len(paths) - 1; more > 0 && !p.all {
			text += untrusted.Sprintf(" (and in %s)", phrase.Count(more, "more place"))
		}
		p.line(b, 2, text)
	}
}

func (p *textPrinter) end(s *summary) error {
	if p.quiet {
		return nil
	}
	var b strings.Builder
	fmt.Fprintln(&b, s)
	return p.write(&b)
}
