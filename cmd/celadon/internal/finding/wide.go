package finding

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// Table holds the common properties of the rows of a kind and version.
type Table struct {
	Kind       schema.GroupVersionKind
	Namespaced bool
	// Columns are the names of the columns after NAMESPACE and NAME.
	Columns []string
}

// Row is an object as a row of kubectl get.
type Row struct {
	*Table
	Namespace, Name string
	// Cells has one cell per column; nil is an empty cell.
	Cells []any
}

// maxCell limits the size of a cell in bytes, because rows are kept in memory.
const maxCell = 4 << 10

// widePrinter writes tables as kubectl get -A -o wide does, one per kind and version in order of
// appearance. Findings go to stderr.
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

// line returns a row's cells, separated by tabs. The kind, which is shown only if there are several
// tables, is added later.
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

func (p *widePrinter) End(s *Summary) error {
	for i, t := range p.tables {
		if i > 0 {
			fmt.Fprintln(p.w)
		}
		// The widths of kubectl.
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

// withKind prefixes the name with the kind, as kubectl does if it shows several kinds.
func (t *Table) withKind(line string) string {
	kind := cellText(strings.ToLower(t.Kind.GroupKind().String())) + "/"
	if !t.Namespaced {
		return kind + line
	}
	namespace, rest, _ := strings.Cut(line, "\t")
	return namespace + "\t" + kind + rest
}
