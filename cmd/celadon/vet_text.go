package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/foreign"
)

// vetText writes for people: the verdict as kubectl would print it, then what
// the rules cost, then what can be done.
type vetText struct {
	out *foreign.Writer
	all bool
	// terminal gets colour and bars, and lines of its width; 0 is any.
	terminal bool
	width    int
	written  bool
}

func (a *app) newVetText(out *foreign.Writer, all bool) *vetText {
	p := &vetText{out: out, all: all}
	if f, ok := a.stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.terminal = os.Getenv("NO_COLOR") == ""
		out.Colours = p.terminal
		p.width, _, _ = term.GetSize(int(f.Fd()))
	}
	return p
}

func (p *vetText) crd(one *vetted) error {
	var b strings.Builder
	if p.written {
		b.WriteByte('\n')
	}
	p.written = true
	if one.problem != nil {
		foreign.Fprintf(&b, "%s: %s\n", one.doc.Place(), one.problem.Error())
		_, err := io.WriteString(p.out, b.String())
		return err
	}
	p.verdict(&b, one)
	for _, v := range versions(one.report) {
		p.version(&b, one, &v)
	}
	p.needs(&b, one.report)
	for _, l := range one.lints() {
		p.line(&b, 2, foreign.Sprintf("lint %s: %s", p.paint(foreign.Yellow, foreign.Line(l.Lint)), l.Message))
		if l.Line > 0 {
			foreign.Fprintf(&b, "    --> %s:%d:%d\n", l.File, l.Line, l.Column)
		}
	}
	_, err := io.WriteString(p.out, b.String())
	return err
}

func (p *vetText) verdict(b *strings.Builder, one *vetted) {
	r := one.report
	for _, w := range r.Warnings {
		foreign.Fprintf(b, "Warning: %s\n", w)
	}
	if r.Accepted {
		foreign.Fprintf(b, "%s: %s", r.Name, p.paint(foreign.Green, "accepted"))
		if r.MinKubeVersion != "" {
			foreign.Fprintf(b, ", from Kubernetes %s", r.MinKubeVersion)
		}
		b.WriteByte('\n')
		return
	}
	if one.undecided() {
		foreign.Fprintf(b, "%s: %s\n", r.Name, p.paint(foreign.Red, foreign.Line(r.Undecided.Error())))
		foreign.Fprintf(b, "  --> %s\n", one.doc.Place())
		return
	}
	kubectl := &report.Object{File: one.doc.File, Line: one.doc.Line, Causes: one.causes(), Operation: one.operation, Duplicate: one.doc.Duplicate != nil && r.Status.Code == 400}
	kubectl.Kind, kubectl.Name = "CustomResourceDefinition", r.Name
	kubectl.Status = &report.Status{Code: r.Status.Code, Reason: string(r.Status.Reason), Message: r.Status.Message}
	refused := strings.TrimRight(string(report.KubectlError(kubectl)), "\n")
	foreign.Fprintf(b, "%s\n", p.paint(foreign.Red, foreign.Own(refused)))
	places := kubectl.Places()
	if strict := one.strict(); len(strict) > 0 {
		places = nil
		for _, at := range strict {
			places = append(places, at.String())
		}
	}
	for _, place := range places {
		foreign.Fprintf(b, "  --> %s\n", place)
	}
}

// versions are those to show: those with the same rules at the same cost once.
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

// sameRules compares all but where the versions stand in the CRD.
func sameRules(a, b vet.Version) bool {
	return slices.EqualFunc(a.Rules, b.Rules, func(x, y vet.Rule) bool {
		return x.Path == y.Path && x.Rule == y.Rule && x.MessageExpression == y.MessageExpression && x.Broken == y.Broken &&
			x.EstimatedTotal == y.EstimatedTotal && x.MessageExpressionCost == y.MessageExpressionCost && slices.Equal(x.Factors, y.Factors)
	})
}

// mostRows are shown without --all.
const mostRows = 10

func (p *vetText) version(b *strings.Builder, one *vetted, v *vet.Version) {
	p.line(b, 2, foreign.Sprintf("%s: %s, estimated cost %s of %s (%s)%s", v.Name, report.Plural(len(v.Rules), "rule"), number(v.EstimatedCost), number(v.Limit), percent(v.EstimatedCost, v.Limit), p.bar(v.EstimatedCost, v.Limit)))
	rows, more := p.rows(v), 0
	if !p.all && len(rows) > mostRows {
		rows, more = rows[:mostRows], len(rows)-mostRows
	}
	p.table(b, rows)
	if more > 0 {
		foreign.Fprintf(b, "    … and %d more that cost less (--all shows them)\n", more)
	}
	p.why(b, one, v)
}

// needs tells of each function and field once, and of the first place.
func (p *vetText) needs(b *strings.Builder, r *vet.Report) {
	for i, n := range r.Needs {
		same := func(o vet.Need) bool {
			return o.What == n.What && o.KubeVersion == n.KubeVersion && o.Silent == n.Silent
		}
		if !p.all && slices.ContainsFunc(r.Needs[:i], same) {
			continue
		}
		text, places := foreign.Line(n.String()), map[string]bool{}
		for _, o := range r.Needs[i:] {
			if same(o) {
				places[o.Path] = true
			}
		}
		if more := len(places) - 1; more > 0 && !p.all {
			text += foreign.Sprintf(" (and in %s)", report.Plural(more, "more place"))
		}
		p.line(b, 2, text)
	}
}

func (p *vetText) end(s *vetSummary) error {
	_, err := fmt.Fprintln(p.out, s)
	return err
}
