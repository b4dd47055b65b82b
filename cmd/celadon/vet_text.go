package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/chzyer/readline"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/engine/vet"
)

// vetText writes for people: the verdict as kubectl would print it, then what
// the rules cost, then what can be done.
type vetText struct {
	out io.Writer
	all bool
	// terminal gets colour and bars.
	terminal bool
	written  bool
}

func newVetText(out io.Writer, all bool) *vetText {
	f, ok := out.(*os.File)
	return &vetText{out: out, all: all, terminal: ok && readline.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == ""}
}

func (p *vetText) crd(one *vetted) error {
	var b strings.Builder
	if p.written {
		b.WriteByte('\n')
	}
	p.written = true
	if one.problem != nil {
		fmt.Fprintf(&b, "%s: %v\n", one.doc.Place(), one.problem)
		_, err := io.WriteString(p.out, b.String())
		return err
	}
	p.verdict(&b, one)
	for _, v := range p.versions(one.report) {
		p.version(&b, v)
	}
	p.needs(&b, one.report)
	for _, l := range one.lints() {
		fmt.Fprintf(&b, "  lint %s: %s\n", p.paint(yellow, l.Lint), l.Message)
		if l.Line > 0 {
			fmt.Fprintf(&b, "    --> %s:%d:%d\n", l.File, l.Line, l.Column)
		}
	}
	_, err := io.WriteString(p.out, b.String())
	return err
}

func (p *vetText) verdict(b *strings.Builder, one *vetted) {
	r := one.report
	for _, w := range r.Warnings {
		fmt.Fprintf(b, "Warning: %s\n", w)
	}
	if r.Accepted {
		fmt.Fprintf(b, "%s: %s", r.Name, p.paint(green, "accepted"))
		if r.MinKubeVersion != "" {
			fmt.Fprintf(b, ", from Kubernetes %s", r.MinKubeVersion)
		}
		b.WriteByte('\n')
		return
	}
	kubectl := &report.Object{File: one.doc.File, Line: one.doc.Line, Causes: one.causes(), Operation: "create"}
	kubectl.Kind, kubectl.Name = "CustomResourceDefinition", r.Name
	kubectl.Status = &report.Status{Code: r.Status.Code, Reason: string(r.Status.Reason), Message: r.Status.Message}
	b.WriteString(p.paint(red, strings.TrimRight(report.KubectlError(kubectl), "\n")) + "\n")
	for _, place := range kubectl.Places() {
		fmt.Fprintf(b, "  --> %s\n", place)
	}
}

// versions are those to show: of several with the same rules, the first.
func (p *vetText) versions(r *vet.Report) []vet.Version {
	var list []vet.Version
	for _, v := range r.Versions {
		same := func(o vet.Version) bool {
			return len(o.Rules) > 0 && len(v.Rules) > 0 && o.Rules[0].Field == v.Rules[0].Field
		}
		if i := slices.IndexFunc(list, same); i >= 0 {
			list[i].Name += ", " + v.Name
			continue
		}
		if len(v.Rules) > 0 {
			list = append(list, v)
		}
	}
	return list
}

// mostRules are shown without --all.
const mostRules = 10

func (p *vetText) version(b *strings.Builder, v vet.Version) {
	fmt.Fprintf(b, "  %s: %s, estimated cost %s of %s (%s)%s\n", v.Name, report.Plural(len(v.Rules), "rule"), number(v.EstimatedCost), number(v.Limit), percent(v.EstimatedCost, v.Limit), p.bar(v.EstimatedCost, v.Limit))
	rules := slices.Clone(v.Rules)
	slices.SortStableFunc(rules, func(x, y vet.Rule) int {
		return cmp.Compare(max(y.EstimatedTotal, y.MessageExpressionCost), max(x.EstimatedTotal, x.MessageExpressionCost))
	})
	more := 0
	if !p.all && len(rules) > mostRules {
		rules, more = rules[:mostRules], len(rules)-mostRules
	}
	p.table(b, rules, v.Limit)
	if more > 0 {
		fmt.Fprintf(b, "    … and %s that cost less (--all shows them)\n", report.Plural(more, "rule"))
	}
	for _, r := range rules {
		if r.Reason != nil {
			p.reason(b, &r)
		}
	}
	p.advice(b, v)
}

func (p *vetText) table(b *strings.Builder, rules []vet.Rule, limit uint64) {
	rows := [][]string{{"TOTAL", "LIMIT", "CRD", "ONCE", "TIMES", "WHERE", "RULE"}}
	for _, r := range rules {
		where := r.Path
		if where == "" {
			where = "(root)"
		}
		total := number(r.EstimatedTotal)
		if r.Broken {
			total = "broken"
		}
		rows = append(rows, []string{
			total, percent(r.EstimatedTotal, r.Limit) + p.bar(r.EstimatedTotal, r.Limit), percent(r.EstimatedTotal, limit),
			number(r.EstimatedCost), number(r.Cardinality), where + because(&r), shorten(r.Rule, 60),
		})
		if r.MessageExpressionCost > r.EstimatedTotal {
			rows = append(rows, []string{
				number(r.MessageExpressionCost), percent(r.MessageExpressionCost, r.Limit), percent(r.MessageExpressionCost, limit),
				number(r.MessageExpressionCost), "1", where + " messageExpression", shorten(r.MessageExpression, 60),
			})
		}
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		line := "   "
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-len([]rune(cell)))
			if i < 5 { // numbers to the right
				line += " " + pad + cell
			} else {
				line += "  " + cell + pad
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// lastStep is a place's own name: the rest stands before it already.
func lastStep(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// because names the lists and maps that multiply a rule.
func because(r *vet.Rule) string {
	var parts []string
	for _, f := range r.Factors {
		if !f.Bounded {
			parts = append(parts, fmt.Sprintf("%s without %s", lastStep(f.Path), f.Word()))
		} else {
			parts = append(parts, fmt.Sprintf("%s %s", lastStep(f.Path), number(f.Max)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func (p *vetText) reason(b *strings.Builder, r *vet.Rule) {
	where := r.Path
	if where == "" {
		where = "the root"
	}
	fmt.Fprintf(b, "    why %s, rule %d, costs %s: %s\n", where, r.Index, number(max(r.EstimatedTotal, r.MessageExpressionCost)), p.paint(bold, shorten(r.Reason.Expression, 100)))
	for _, m := range r.Reason.Missing {
		fmt.Fprintf(b, "      %s has no %s: %s assumed\n", m.Path, m.Set, number(uint64(m.Assumed)))
	}
	for _, note := range r.Reason.Notes {
		fmt.Fprintf(b, "      note: %s\n", note)
	}
	if !r.Reason.Mendable {
		fmt.Fprintf(b, "      no bounds make it fit: rewrite this part of the rule\n")
	}
}

func (p *vetText) advice(b *strings.Builder, v vet.Version) {
	if len(v.Advice) == 0 {
		return
	}
	what := "set these bounds and all rules fit"
	if !v.Mendable {
		what = "set these bounds and the other rules fit"
	}
	fmt.Fprintf(b, "    %s:\n", p.paint(green, what))
	for _, a := range v.Advice {
		where := a.Path
		if where == "" {
			where = "the root"
		}
		fmt.Fprintf(b, "      %s: %s: %d", where, a.Set, a.Value)
		if a.Now > 0 {
			fmt.Fprintf(b, " (now %d)", a.Now)
		}
		b.WriteByte('\n')
	}
}

func (p *vetText) needs(b *strings.Builder, r *vet.Report) {
	seen := map[string]bool{}
	for _, n := range r.Needs {
		if text := n.String(); !seen[text] {
			seen[text] = true
			fmt.Fprintf(b, "  %s\n", text)
		}
	}
}

func (p *vetText) end(s *vetSummary) error {
	text := fmt.Sprintf("%s vetted: %d accepted, %d refused", report.Plural(s.CRDs, "CRD"), s.Accepted, s.Refused)
	if s.Lints > 0 {
		text += "; " + report.Plural(s.Lints, "lint")
	}
	if s.Unreadable > 0 {
		text += fmt.Sprintf("; %d unreadable", s.Unreadable)
	}
	if s.Interrupted {
		text += "; interrupted"
	}
	_, err := fmt.Fprintln(p.out, text)
	return err
}
