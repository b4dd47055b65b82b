package check

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/outfile"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/progress"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/reports"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
)

// A destination receives a report. Standard output is written as results arrive. A file gets its
// name only when it is complete.
type destination struct {
	printers       *reports.Printers[print.Printer]
	out            *bufio.Writer
	bar            *progress.Bar
	sharesTerminal bool          // the progress bar shares a terminal with the report
	file           *outfile.File // nil for standard output
	others         *reports.Files
	head           *finding.PartHead // nil unless the report is partial
}

// destination opens the destination of a report. KubeVersion is the emulated version.
func (r *runner) destination(o *Options, kubeVersion string) (d *destination, err error) {
	d = &destination{bar: progress.On(r.Stderr, "checking", "objects"), head: o.head(kubeVersion), others: &o.Reports}
	options := print.Options{
		KubeVersion: kubeVersion,
		StrictKinds: o.StrictKinds,
		Quiet:       o.Quiet,
		Verbose:     o.Verbose,
		Version:     command.Version(),
		Part:        d.head,
		Stderr:      r.Stderr,
	}
	other := options
	other.Part, other.Stderr = nil, io.Discard
	var to io.Writer
	if o.Out != "" {
		outfile.Clean(o.Out)
		if d.file, err = outfile.Create(o.Out); err != nil {
			return nil, fmt.Errorf("--out: %w", err)
		}
		to = d.file
	} else {
		to, d.sharesTerminal = d.bar.ReportWriter(r.Stdout)
		options.Color = command.Color(r.Stdout) && !o.Quiet
		if options.Width, _ = command.Width(r.Stdout); o.Quiet {
			options.Width = 0 // as kubectl does, without wrapping
		}
	}
	d.out = bufio.NewWriterSize(to, 64<<10)
	create := func(format string, terminal, to io.Writer) (print.Printer, error) {
		if terminal == io.Discard {
			return print.New(format, to, other)
		}
		return print.New(format, to, options)
	}
	if d.printers, err = reports.New(d.others, o.Output, r.Stdout, d.out, create); err != nil {
		d.discard()
		return nil, err
	}
	return d, nil
}

// object writes the result for a document. Only the first report, to --out or standard output, has documents that are not
// objects.
func (d *destination) object(o *finding.Object) error {
	if o.Verdict == finding.Ignored {
		return d.printers.First().Object(o)
	}
	return d.printers.Each(func(p print.Printer) error { return p.Object(o) })
}

// flush writes the results to a terminal, above the progress bar.
func (d *destination) flush() error {
	if !d.sharesTerminal {
		return nil
	}
	return d.out.Flush()
}

// commit renames complete files to their final names.
func (d *destination) commit() error {
	if err := d.others.Commit(); err != nil || d.file == nil {
		return err
	}
	file := d.file
	d.file = nil
	return file.Commit()
}

func (d *destination) discard() {
	d.others.Discard()
	if d.file != nil {
		d.file.Discard()
	}
}

// unwrapWrite removes the name of standard output from an error about it.
func (r *runner) unwrapWrite(err error) error {
	var pathErr *os.PathError
	if f, ok := r.Stdout.(*os.File); ok && errors.As(err, &pathErr) && pathErr.Path == f.Name() {
		return pathErr.Err
	}
	return err
}
