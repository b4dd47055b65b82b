package repl

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/repl"
)

// printRow prints a row, as text or as a JSON line.
func (e *evaluation) printRow(x *repl.Evaluator, doc *input.Document, r *repl.Row) error {
	id := doc.Identity()
	if e.Output == "text" {
		name, value := cmp.Or(id.Name, doc.Location()), ""
		if id.Namespace != "" {
			name = id.Namespace + "/" + name
		}
		if r.Path != "" {
			name += " " + r.Path
		}
		if r.Err != nil {
			value = "error: " + reasonOf(r.Err)
		} else {
			value = r.Value.String()
		}
		_, err := fmt.Fprintf(untrusted.NewWriter(e.Stdout), "%s: %s\n", oneLine(name), oneLine(value))
		return err
	}
	rep, err := x.Report(r)
	if err != nil {
		return err
	}
	rep.Object = &repl.ReportObject{APIVersion: id.APIVersion, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
	if !doc.Live {
		rep.Object.File, rep.Object.Line = doc.File, doc.Line
	}
	if r.Err != nil {
		rep.Error.Message = reasonOf(r.Err)
	}
	return e.printReport(rep)
}

// reasonOf returns the text of an error, without the commands of the shell.
func reasonOf(err error) string {
	if lacking, ok := err.(*repl.NoValueError); ok {
		return lacking.Reason
	}
	return err.Error()
}

func oneLine(text string) string { return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(text) }
