package find

import (
	"fmt"
	"io"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// A printer writes the report, CRD by CRD.
type printer interface {
	crd(*CRDPart) error
	end(*Report) error
}

// newPrinter returns a printer that writes to out. If terminal is a terminal, text is cut to its width.
func newPrinter(out *untrusted.Writer, terminal io.Writer, o *Options) printer {
	switch o.Output {
	case "json":
		return &jsonPrinter{out}
	case "yaml":
		return &yamlPrinter{out: out}
	}
	p := &textPrinter{out: out, o: o}
	p.width, _ = command.Width(terminal)
	out.Colors = command.Color(terminal)
	p.layout = print.Layout{Color: out.Colors, Width: p.width}
	return p
}

type jsonPrinter struct{ out io.Writer }

func (p *jsonPrinter) crd(*CRDPart) error { return nil }

func (p *jsonPrinter) end(r *Report) error { return print.JSON(p.out, r) }

type textPrinter struct {
	out    *untrusted.Writer
	o      *Options
	width  int // of the terminal; 0 means unlimited
	layout print.Layout
}

func (p *textPrinter) crd(part *CRDPart) error {
	var b strings.Builder
	for _, v := range part.Versions {
		fmt.Fprintf(&b, "%s %s\n", untrusted.Line(part.Name), untrusted.Line(v.Name))
		if v.Accepted != nil {
			if err := p.finding(&b, "  ", v.Accepted); err != nil {
				return err
			}
		}
		for _, r := range v.Rules {
			head := "  " + ruleName(r) + ": "
			line := p.cut(head + string(untrusted.Line(lex.Flat(r.Rule))))
			if rule, ok := strings.CutPrefix(line, head); ok {
				line = head + string(p.out.Paint(untrusted.Bold, untrusted.Safe(rule)))
			}
			fmt.Fprintf(&b, "%s\n", line)
			last := ""
			for _, a := range r.answers() {
				if words := a.finding.words; words == last {
					continue // a rule that does not compile has the same result for all questions
				} else {
					last = words
				}
				if err := p.finding(&b, "    ", a.finding); err != nil {
					return err
				}
			}
		}
		for _, one := range v.expressions() {
			if err := p.policy(&b, one); err != nil {
				return err
			}
		}
	}
	_, err := io.WriteString(p.out, p.layout.Text(b.String()))
	return err
}

func (p *textPrinter) cut(line string) string {
	if p.width > 0 {
		return termwidth.Cut(line, p.width)
	}
	return line
}

func ruleName(r *RulePart) string { return string(untrusted.Line(phrase.Rule(r.Path, r.Index))) }

func (p *textPrinter) finding(b *strings.Builder, indent string, f *Finding) error {
	fmt.Fprintf(b, "%s%s\n", indent, f.words)
	if f.Object == nil {
		return nil
	}
	if f.Message != "" {
		field := ""
		if f.Field != "" {
			field = f.Field + ": "
		}
		fmt.Fprintf(b, "%s  %s\n", indent, untrusted.Line(field+f.Message))
	}
	for _, path := range f.MadeUp {
		fmt.Fprintf(b, "%s  %s is a placeholder: its format is password\n", indent, untrusted.Line(path))
	}
	if f.Old != nil {
		fmt.Fprintf(b, "%s  old object:\n", indent)
		if err := indented(b, indent+"    ", f.Old); err != nil {
			return err
		}
		fmt.Fprintf(b, "%s  new object:\n", indent)
		indent += "  "
	}
	return indented(b, indent+"  ", f.Object)
}

// The limits for objects in text output. Objects that exceed a cost limit are large.
const (
	maxLines   = 80
	maxColumns = 300
)

func indented(b *strings.Builder, indent string, obj map[string]any) error {
	data, err := untrusted.YAML(obj)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	more := len(lines) - maxLines
	if more > 0 {
		lines = append(lines[:maxLines], fmt.Sprintf("# … %s more: use -o yaml to see all", phrase.Count(more, "line")))
	}
	for _, line := range lines {
		b.WriteString(indent + termwidth.Cut(line, maxColumns) + "\n")
	}
	return nil
}

func (p *textPrinter) end(r *Report) error {
	s := &r.Summary
	if n := s.Policies; n != nil {
		for _, name := range n.Unmatched {
			fmt.Fprintf(p.out, "policy %s: unknown: it matches no resource for which find makes objects; add its CRDs with --crd\n", untrusted.Line(name))
		}
		var parts []string
		if n.Validations > 0 || n.Mutations == 0 {
			parts = append(parts, phrase.Count(n.Validations, "validation"), fmt.Sprintf("denying a request: %d", n.Denied))
			if n.Reported > 0 {
				parts[1] += fmt.Sprintf(" (%d only with a warning or audit annotation)", n.Reported)
			}
		}
		if len(p.o.OldPolicies) > 0 {
			parts = []string{phrase.Count(n.Validations, "validation"), fmt.Sprintf("stricter: %d", n.Stricter), fmt.Sprintf("looser: %d", n.Looser)}
			if n.Unknown > 0 {
				parts = append(parts, fmt.Sprintf("unknown: %d", n.Unknown))
			}
			_, err := fmt.Fprintln(p.out, strings.Join(parts, "; "))
			return err
		}
		if n.Mutations > 0 {
			parts = append(parts, phrase.Count(n.Mutations, "mutation"), fmt.Sprintf("changing an object: %d", n.Changed), fmt.Sprintf("making one invalid: %d", n.Invalid))
		}
		_, err := fmt.Fprintf(p.out, "%s; failing: %d; unknown: %d\n", strings.Join(parts, "; "), n.Errors, n.Unknown)
		return err
	}
	if s.Rules == 0 && !s.Interrupted {
		return nil
	}
	parts := []string{phrase.Count(s.Rules, "rule")}
	for _, n := range []struct {
		count int
		label string
	}{{s.Rejected, "rejecting an object"}, {s.Never, "never rejecting an object"}, {s.Errors, "failing or exceeding a limit"}, {s.Nothing, "versions that accept nothing"}, {s.Unserved, "not served"}, {s.Unknown, "unknown"}} {
		if n.count > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", n.label, n.count))
		}
	}
	if s.Interrupted {
		parts = append(parts, "interrupted")
	}
	_, err := fmt.Fprintln(p.out, strings.Join(parts, "; "))
	return err
}
