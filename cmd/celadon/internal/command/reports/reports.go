// Package reports writes several reports of one run. The flag --output selects the format of the report on
// standard output, and with FORMAT=FILE adds reports in files.
package reports

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/outfile"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// Files are the reports in files. A file gets its name only when its report is complete.
type Files struct {
	named []file
}

type file struct {
	format, name string
	out          *outfile.File // nil unless the file is open
	buffer       *bufio.Writer
}

type flag struct {
	format  *string
	files   *Files
	formats []string
}

// Flag adds --output to f. format receives the format of standard output. The caller checks it.
func (r *Files) Flag(f *pflag.FlagSet, format *string, formats []string) {
	*format = "text"
	usage := "report format: " + phrase.Or(formats) + "; FORMAT=FILE adds a report in a file (repeatable)"
	f.VarP(&flag{format, r, formats}, "output", "o", usage)
}

func (f *flag) String() string { return *f.format }
func (f *flag) Type() string   { return "string" }

func (f *flag) Set(value string) error {
	format, name, ok := strings.Cut(value, "=")
	switch {
	case !ok:
		*f.format = value
	case !slices.Contains(f.formats, format) || name == "" || name == "-":
		return fmt.Errorf("want FORMAT=FILE with the format %s", phrase.Or(f.formats))
	default:
		f.files.named = append(f.files.named, file{format: format, name: name})
	}
	return nil
}

// Any reports whether there are reports in files.
func (r *Files) Any() bool { return len(r.named) > 0 }

// Has reports whether a report in a file has the format.
func (r *Files) Has(format string) bool {
	return slices.ContainsFunc(r.named, func(f file) bool { return f.format == format })
}

// Commit completes the files.
func (r *Files) Commit() (err error) {
	for _, f := range r.named {
		if f.out == nil {
			continue
		}
		failed := f.buffer.Flush()
		if failed == nil {
			failed = f.out.Commit()
		}
		err = errors.Join(err, failed)
	}
	return err
}

// Discard removes the files that are not complete.
func (r *Files) Discard() {
	for _, f := range r.named {
		if f.out != nil {
			f.out.Discard()
		}
	}
}

// Printers write the same report. P is the type of a command's printers.
type Printers[P any] struct {
	list  []P
	files *Files
}

// New returns the printers of the main report, which goes to to, and of the reports in files. The caller calls
// files.Discard at the end. create returns the printer of a format; widths and colors depend on terminal.
func New[P any](
	files *Files, format string, terminal, to io.Writer, create func(format string, terminal, to io.Writer) (P, error),
) (*Printers[P], error) {
	p := &Printers[P]{files: files}
	add := func(format string, terminal, to io.Writer) error {
		one, err := create(format, terminal, to)
		p.list = append(p.list, one)
		return err
	}
	err := add(format, terminal, to)
	for i := 0; i < len(files.named) && err == nil; i++ {
		f := &files.named[i]
		if f.out, err = outfile.Create(f.name); err != nil {
			err = fmt.Errorf("--output %s: %w", f.format, err)
			break
		}
		f.buffer = bufio.NewWriter(f.out)
		err = add(f.format, io.Discard, f.buffer)
	}
	if err != nil {
		files.Discard()
	}
	return p, err
}

// First returns the printer of the main report.
func (p *Printers[P]) First() P { return p.list[0] }

// Each calls f with each printer until one fails.
func (p *Printers[P]) Each(f func(P) error) error {
	for _, one := range p.list {
		if err := f(one); err != nil {
			return err
		}
	}
	return nil
}

// End calls f with each printer, to write the end of the report, and completes the files.
func (p *Printers[P]) End(f func(P) error) error {
	if err := p.Each(f); err != nil {
		return err
	}
	return p.files.Commit()
}
