package finding

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// Table is what the rows of one kind and version have in common.
type Table struct {
	Kind       schema.GroupVersionKind
	Namespaced bool
	// Columns are the names of those behind the object's.
	Columns []string
}

// Row is an object as kubectl get shows it.
type Row struct {
	*Table
	Namespace, Name string
	// Cells are one a column; nil shows nothing.
	Cells []any
}

// maxCell is how much of a cell is kept: rows wait for each other.
const maxCell = 4 << 10

// widePrinter writes tables as kubectl get -A -o wide does: one a kind and
// version, in the order in which these come. What is to be told goes where errors
// go.
type widePrinter struct {
	w      *untrusted.Writer
	rest   *textPrinter
	tables []*Table
	rows   map[*Table][]string
}

func (p *widePrinter) CRD(c *CRD) error { return p.rest.CRD(c) }

func (p *widePrinter) Object(o *Object) error {
	if r := o.Row; r != nil {
		if p.rows[r.Table] == nil {
			p.tables = append(p.tables, r.Table)
		}
		p.rows[r.Table] = append(p.rows[r.Table], r.line())
	}
	return p.rest.Object(o)
}

// line is a row's texts between tabs, without the namespace and what of the name
// depends on other tables.
func (r *Row) line() string {
	texts := []string{cellText(r.Name)}
	if r.Namespaced {
		texts = []string{cellText(r.Namespace), cellText(r.Name)}
	}
	for _, c := range r.Cells {
		texts = append(texts, cellText(c))
	}
	return strings.Join(texts, "\t")
}

// cellText is a cell up to where it breaks the line, as kubectl has it.
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

func (p *widePrinter) End(s *Summary) error {
	for i, t := range p.tables {
		if i > 0 {
			fmt.Fprintln(p.w)
		}
		// kubectl's own widths.
		out := tabwriter.NewWriter(p.w, 6, 4, 3, ' ', 0)
		fmt.Fprintln(out, t.header())
		for _, line := range p.rows[t] {
			if len(p.tables) > 1 {
				line = t.withKind(line)
			}
			fmt.Fprintln(out, line)
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return p.rest.End(s)
}

func (t *Table) header() string {
	names := []string{"NAME"}
	if t.Namespaced {
		names = []string{"NAMESPACE", "NAME"}
	}
	for _, name := range t.Columns {
		names = append(names, cellText(strings.ToUpper(name)))
	}
	return strings.Join(names, "\t")
}

// withKind puts the kind before the name, as kubectl does where it shows several.
func (t *Table) withKind(line string) string {
	kind := cellText(strings.ToLower(t.Kind.GroupKind().String())) + "/"
	if !t.Namespaced {
		return kind + line
	}
	namespace, rest, _ := strings.Cut(line, "\t")
	return namespace + "\t" + kind + rest
}
