package testrun

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/wholefile"
)

// update writes what came of failed cases into their suites.
func (r *run) update(report *Report, suites []*found) error {
	if !r.o.Update {
		return nil
	}
	of := map[string][]edit{}
	var files []string
	for _, f := range suites {
		i := indexOf(report, f)
		if i < 0 {
			continue
		}
		text, changed, err := f.suite.Update(report.Suites[i])
		if err != nil {
			r.problems = append(r.problems, fmt.Errorf("--update: %w", err))
		}
		if changed == 0 || bytes.Equal(text, f.text) {
			continue
		}
		if of[f.suite.File] == nil {
			files = append(files, f.suite.File)
		}
		of[f.suite.File] = append(of[f.suite.File], edit{f.text, text})
	}
	for _, file := range files {
		if err := rewrite(file, of[file]); err != nil {
			return fmt.Errorf("--update: %w", err)
		}
		report.Updated = append(report.Updated, file)
	}
	return nil
}

// edit is a document of a file, before and after.
type edit struct{ before, after []byte }

func indexOf(report *Report, f *found) int {
	for i, one := range report.Suites {
		if one.File == f.suite.File && one.Line == f.suite.Line {
			return i
		}
	}
	return -1
}

var errMoved = errors.New("the file has changed since it was read")

// rewrite changes documents of a file.
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
	return wholefile.Replace(file, data, append(out, rest...))
}
