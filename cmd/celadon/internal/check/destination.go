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
	printer        print.Printer
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
	all := make(printers, 1)
	add := func(format string, to io.Writer) error {
		p, err := print.New(format, to, other)
		all = append(all, p)
		return err
	}
	if all[0], err = print.New(o.Output, d.out, options); err == nil {
		err = d.others.Open(add)
	}
	if err != nil {
		d.discard()
		return nil, err
	}
	d.printer = all
	return d, nil
}

// printers write the same report. Only the first, to --out or standard output, has documents that are not objects.
type printers []print.Printer

func (p printers) CRD(c *finding.CRD) error {
	return reports.Each(p, func(p print.Printer) error { return p.CRD(c) })
}

func (p printers) Object(o *finding.Object) error {
	if o.Verdict == finding.Ignored {
		p = p[:1]
	}
	return reports.Each(p, func(p print.Printer) error { return p.Object(o) })
}

func (p printers) End(s *finding.Summary) error {
	return reports.Each(p, func(p print.Printer) error { return p.End(s) })
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

// discard removes incomplete files.
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
