package repl

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/repl"
)

// A rowPrinter prints rows as they come.
type rowPrinter interface {
	row(doc *input.Document, r *repl.Row) error
	end() error
}

// newPrinter returns the printer for --output.
func (e *evaluation) newPrinter(x *repl.Evaluator) rowPrinter {
	switch e.Output {
	case "json":
		return &jsonRows{e: e, x: x}
	case "table":
		return &tableRows{out: untrusted.NewWriter(e.Stdout)}
	case "csv":
		return &csvRows{out: csv.NewWriter(e.Stdout)}
	}
	return &textRows{out: untrusted.NewWriter(e.Stdout)}
}

// nameOf returns the object's name for people: NAMESPACE/NAME, and the path of self if it is an element.
func nameOf(doc *input.Document, r *repl.Row) string {
	id := doc.Identity()
	name := id.Name
	if name == "" {
		name = doc.Location()
	}
	if id.Namespace != "" {
		name = id.Namespace + "/" + name
	}
	if r.Path != "" {
		name += " " + r.Path
	}
	return name
}

// valueOf returns the value in CEL syntax, or the error.
func valueOf(r *repl.Row) string {
	if r.Err != nil {
		return "error: " + reasonOf(r.Err)
	}
	return r.Value.String()
}

// reasonOf returns the text of an error, without the commands of the shell.
func reasonOf(err error) string {
	if lacking, ok := err.(*repl.NoValueError); ok {
		return lacking.Reason
	}
	return err.Error()
}

type textRows struct{ out io.Writer }

func (t *textRows) row(doc *input.Document, r *repl.Row) error {
	_, err := fmt.Fprintf(t.out, "%s: %s\n", oneLine(nameOf(doc, r)), oneLine(valueOf(r)))
	return err
}

func (*textRows) end() error { return nil }

func oneLine(text string) string { return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(text) }

// tableRows prints a table. The first rows determine the width of the first column, so that memory is limited.
type tableRows struct {
	out   io.Writer
	held  [][2]string
	width int // 0 until the first rows are printed
}

const (
	// heldRows is the number of rows that determine the width of the first column.
	heldRows = 200
	// maxNameColumn limits that width, because a name in an untrusted object can be very long.
	maxNameColumn = 100
)

func (t *tableRows) row(doc *input.Document, r *repl.Row) error {
	cells := [2]string{oneLine(nameOf(doc, r)), oneLine(valueOf(r))}
	if t.width > 0 {
		return t.print(cells)
	}
	if t.held = append(t.held, cells); len(t.held) == heldRows {
		return t.end()
	}
	return nil
}

func (t *tableRows) end() error {
	if t.width > 0 {
		return nil
	}
	rows := append([][2]string{{"NAME", "VALUE"}}, t.held...)
	for _, cells := range rows {
		t.width = max(t.width, min(termwidth.Width(cells[0]), maxNameColumn))
	}
	t.held = nil
	for _, cells := range rows {
		if err := t.print(cells); err != nil {
			return err
		}
	}
	return nil
}

func (t *tableRows) print(cells [2]string) error {
	_, err := fmt.Fprintf(t.out, "%s%s  %s\n", cells[0], strings.Repeat(" ", max(0, t.width-termwidth.Width(cells[0]))), cells[1])
	return err
}

// csvRows prints comma-separated values with a header.
type csvRows struct {
	out     *csv.Writer
	started bool
}

func (c *csvRows) row(doc *input.Document, r *repl.Row) error {
	if err := c.start(); err != nil {
		return err
	}
	id := doc.Identity()
	cells := []string{id.Namespace, id.Name, r.Path, "", ""}
	if r.Err != nil {
		cells[4] = reasonOf(r.Err)
	} else if text, ok := r.Value.JSON().(string); ok {
		cells[3] = text
	} else {
		cells[3] = r.Value.String()
	}
	for i, cell := range cells {
		cells[i] = plainCell(cell)
	}
	return c.out.Write(cells)
}

func (c *csvRows) start() error {
	if c.started {
		return nil
	}
	c.started = true
	return c.out.Write([]string{"namespace", "name", "path", "value", "error"})
}

func (c *csvRows) end() error {
	if err := c.start(); err != nil {
		return err
	}
	c.out.Flush()
	return c.out.Error()
}

// plainCell returns a cell that a spreadsheet does not evaluate as a formula: if its first character could
// begin one, it is preceded by an apostrophe. Numbers stay as they are. Control characters are escaped.
func plainCell(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err != nil && text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		text = "'" + text
	}
	return string(untrusted.Text(text))
}

// jsonRows prints a report for each row, as JSON lines.
type jsonRows struct {
	e *evaluation
	x *repl.Evaluator
}

func (j *jsonRows) row(doc *input.Document, r *repl.Row) error {
	rep, err := j.x.Report(r)
	if err != nil {
		return err
	}
	id := doc.Identity()
	rep.Object = &repl.ReportObject{APIVersion: id.APIVersion, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
	if !doc.Live {
		rep.Object.File, rep.Object.Line = doc.File, doc.Line
	}
	if r.Err != nil {
		rep.Error.Message = reasonOf(r.Err)
	}
	return j.e.printReport(rep)
}

func (*jsonRows) end() error { return nil }
