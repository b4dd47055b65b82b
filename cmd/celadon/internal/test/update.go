package test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/outfile"
	"github.com/celadon-cel/celadon/x/ruletest"
)

// update changes the suite to expect the actual results of its failed cases, and replaces the report by
// the report of the changed suite.
func (d *done) update(ctx context.Context, runner *ruletest.Runner, crds []*ruletest.CRD, unresolved error) {
	text, changed, errs := d.of.suite.Update(d.report)
	d.errs = errs
	if changed == 0 || ctx.Err() != nil {
		return
	}
	after := ruletest.Parse(d.of.suite.File, d.of.line, text)
	d.text, d.report = text, runner.Run(ctx, after, crds, unresolved)
}

// fileEdits holds the changed documents of a file, in order.
type fileEdits struct {
	file  string
	edits []edit
}

type edit struct{ before, after []byte }

// edited records the new source of a suite. The suites of a file follow each other.
func (r *run) edited(d *done) {
	for _, err := range d.errs {
		r.problems = append(r.problems, fmt.Errorf("--update: %w", err))
	}
	if d.text == nil || bytes.Equal(d.text, d.of.text) {
		return
	}
	file := d.of.suite.File
	if n := len(r.edits); n == 0 || r.edits[n-1].file != file {
		r.edits = append(r.edits, fileEdits{file: file})
	}
	last := &r.edits[len(r.edits)-1]
	last.edits = append(last.edits, edit{d.of.text, d.text})
}

func (r *run) write(report *Report) error {
	for _, of := range r.edits {
		if err := rewrite(of.file, of.edits); err != nil {
			return fmt.Errorf("--update: %w", err)
		}
		report.Updated = append(report.Updated, of.file)
	}
	return nil
}

var errMoved = errors.New("the file has changed since it was read")

func rewrite(file string, edits []edit) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	out, rest := []byte(nil), data
	for _, e := range edits {
		i := bytes.Index(rest, e.before)
		if i < 0 {
			return fmt.Errorf("%s: %w", file, errMoved)
		}
		out = append(append(out, rest[:i]...), e.after...)
		rest = rest[i+len(e.before):]
	}
	return outfile.Replace(file, data, append(out, rest...))
}
