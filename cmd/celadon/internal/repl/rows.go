package repl

import (
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/repl"
)

// printRow prints a row, as text or as a JSON line.
func (e *evaluation) printRow(x *repl.Evaluator, doc *input.Document, r *repl.Row) error {
	if e.Output == "text" {
		_, err := fmt.Fprintf(untrusted.NewWriter(e.Stdout), "%s: %s\n", oneLine(nameOf(doc, r)), oneLine(valueOf(r)))
		return err
	}
	rep, err := x.Report(r)
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
	return e.printReport(rep)
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

func oneLine(text string) string { return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(text) }
