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

// edits holds the changed documents of each file, in order.
type edits struct {
	files []string
	of    map[string][]edit
}

type edit struct{ before, after []byte }

// edited records the new source of a suite.
func (r *run) edited(d *done) {
	for _, err := range d.errs {
		r.problems = append(r.problems, fmt.Errorf("--update: %w", err))
	}
	if d.text == nil || bytes.Equal(d.text, d.of.text) {
		return
	}
	file := d.of.suite.File
	if r.edits.of == nil {
		r.edits.of = map[string][]edit{}
	}
	if r.edits.of[file] == nil {
		r.edits.files = append(r.edits.files, file)
	}
	r.edits.of[file] = append(r.edits.of[file], edit{d.of.text, d.text})
}

func (r *run) write(report *Report) error {
	for _, file := range r.edits.files {
		if err := rewrite(file, r.edits.of[file]); err != nil {
			return fmt.Errorf("--update: %w", err)
		}
		report.Updated = append(report.Updated, file)
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
