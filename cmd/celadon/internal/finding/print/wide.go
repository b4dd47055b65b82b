package print

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// maxCell limits the size of a cell in bytes, because rows are kept in memory.
const maxCell = 4 << 10

// widePrinter writes tables as kubectl get -A -o wide does, one per kind and version in order of
// appearance. Findings go to stderr.
type widePrinter struct {
	*textPrinter // on stderr
	w            *untrusted.Writer
	tables       []*finding.Table
	rows         map[*finding.Table][]string
}

func (p *widePrinter) Object(o *finding.Object) error {
	if r := o.Row; r != nil {
		if p.rows[r.Table] == nil {
			p.tables = append(p.tables, r.Table)
		}
		p.rows[r.Table] = append(p.rows[r.Table], rowLine(r))
	}
	return p.textPrinter.Object(o)
}

// rowLine returns a row's cells, separated by tabs. The kind before the name, which is shown only if there are
// several tables, replaces kindMark later.
func rowLine(r *finding.Row) string {
	texts := []string{kindMark + cellText(r.Name)}
	if r.Namespaced {
		texts = []string{cellText(r.Namespace), texts[0]}
	}
	for _, c := range r.Cells {
		texts = append(texts, cellText(c))
	}
	return strings.Join(texts, "\t")
}

// kindMark is replaced by a kind. No cell contains it.
const kindMark = "\x00"

// cellText returns a cell up to its first line break, as kubectl does.
func cellText(v any) string {
	if v == nil {
		return ""
	}
	text := fmt.Sprint(v)
	if end := strings.IndexAny(text, "\f\n\r"); end >= 0 {
		text = text[:end] + "..."
	}
	return string(untrusted.Line(strings.ReplaceAll(preview.Bytes(text, maxCell), "\t", " ")))
}

func (p *widePrinter) End(s *finding.Summary) error {
	for i, t := range p.tables {
		if i > 0 {
			fmt.Fprintln(p.w)
		}
		// The widths of kubectl.
		out := tabwriter.NewWriter(p.w, 6, 4, 3, ' ', 0)
		head, kind := finding.Row{Table: t, Namespace: "NAMESPACE", Name: "NAME"}, ""
		for _, name := range t.Columns {
			head.Cells = append(head.Cells, strings.ToUpper(name))
		}
		fmt.Fprintln(out, strings.Replace(rowLine(&head), kindMark, "", 1))
		if len(p.tables) > 1 { // as kubectl does
			kind = cellText(strings.ToLower(t.Kind.GroupKind().String())) + "/"
		}
		for _, line := range p.rows[t] {
			fmt.Fprintln(out, strings.Replace(line, kindMark, kind, 1))
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return p.textPrinter.End(s)
}

// yamlPrinter writes accepted objects as they would be stored. Findings go to stderr, so that the output can be piped.
type yamlPrinter struct {
	*textPrinter // on stderr
	w            *untrusted.Writer
	begun        bool
}

func (p *yamlPrinter) Object(o *finding.Object) error {
	if o.Persisted != nil {
		text, err := untrusted.YAML(o.Persisted)
		if err != nil {
			return err
		}
		if p.begun {
			text = append([]byte("---\n"), text...)
		}
		p.begun = true
		if _, err := p.w.Write(text); err != nil {
			return err
		}
	}
	return p.textPrinter.Object(o)
}
