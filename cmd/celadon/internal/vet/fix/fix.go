// Package fix is celadon vet --fix: it sets the bounds that vet advises, and with
// --find other texts for rules, in the files that the CRDs were read from, and shows
// what it changes.
//
//	f := fix.New(fix.Config{Vet: vet, Out: stdout, Err: stderr})
//	err := f.Add(ctx, doc, vetted) // for each CRD, in the order of the input
//	err := f.End(ctx)
package fix

// How it works. The CRDs of one file are held until the next file begins. Then the
// file is read again: the text of each CRD must still stand in it, and the edits of
// all of them are put in at once. What comes out is vetted before it is written, so
// that the last line can say what the server would still refuse; and it is written
// whole, if the file is still what was read.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/outfile"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/linediff"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/crdedit"
)

// Config is what a Fixer works with.
type Config struct {
	// Vet is what is known of a CRD; nil for a document that is none.
	Vet func(context.Context, *input.Document) (*Vetted, error)
	// Out gets the diffs, Err a line a file. Both are written through
	// untrusted.Writer.
	Out, Err io.Writer
	// DryRun shows the diffs alone.
	DryRun bool
}

// Vetted is what is known of a CRD.
type Vetted struct {
	Report *vet.Report
	// Rules are other texts for rules.
	Rules []crdedit.Text
}

// Fixer fixes files one after the other.
type Fixer struct {
	cfg      Config
	out, err io.Writer
	file     string
	crds     []crd // of file
	sum      Summary
}

// Summary counts CRDs.
type Summary struct {
	// CRDs are all, Fixed those that were changed, Refused those that the
	// server would not accept, fixed or not.
	CRDs, Fixed, Refused int
	// Failed counts files that could not be fixed, and CRDs that could not be read.
	Failed int
}

// crd is a CRD and what is known of it.
type crd struct {
	doc *input.Document
	*Vetted
}

// New makes a Fixer.
func New(cfg Config) *Fixer {
	return &Fixer{cfg: cfg, out: untrusted.NewWriter(cfg.Out), err: untrusted.NewWriter(cfg.Err)}
}

// Add takes the next CRD; one whose file is another than the last one's ends that.
// The error is one of writing the diff, or the context's.
func (f *Fixer) Add(ctx context.Context, doc *input.Document, v *Vetted) error {
	if doc.File != f.file {
		if err := f.End(ctx); err != nil {
			return err
		}
		f.file = doc.File
	}
	f.sum.CRDs++
	f.crds = append(f.crds, crd{doc, v})
	return nil
}

// Unreadable tells of a document that no CRD could be made of.
func (f *Fixer) Unreadable(doc *input.Document, err error) {
	f.sum.Failed++
	untrusted.Fprintf(f.err, "%s: %s\n", doc.Place(), err.Error())
}

// Summary is of all CRDs in files that are ended.
func (f *Fixer) Summary() Summary { return f.sum }

// End fixes the last file.
func (f *Fixer) End(ctx context.Context) error {
	crds := f.crds
	f.crds = nil
	if len(crds) == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	if !slices.ContainsFunc(crds, crd.advised) {
		f.refused(crds)
		return nil
	}
	before, err := os.ReadFile(f.file)
	if err != nil {
		f.failed(input.WithoutPath(err))
		return nil
	}
	e := edit{text: before}
	for _, c := range crds {
		if !c.advised() {
			continue
		}
		if err := e.follow(c); errors.Is(err, outfile.ErrChanged) {
			f.failed(err)
			return nil
		} else if err != nil {
			untrusted.Fprintf(f.err, "%s: %s: not fixed: %s\n", c.doc.Place(), c.Report.Name, err.Error())
		}
	}
	return f.write(ctx, crds, &e, before)
}

// write shows and writes what an edit made of a file.
func (f *Fixer) write(ctx context.Context, crds []crd, e *edit, before []byte) error {
	after, err := e.result()
	if err != nil {
		f.failed(err)
		return nil
	}
	now, err := f.vetted(ctx, after)
	if err != nil {
		return err
	}
	if len(now) != len(crds) {
		f.failed(outfile.ErrChanged)
		return nil
	}
	if i := slices.IndexFunc(now, func(c crd) bool { return len(c.Rules) > 0 }); i >= 0 {
		f.failed(fmt.Errorf("%s: its rules would still fail: celadon vet --find shows how to guard each", now[i].Report.Name))
		return nil
	}
	if e.fixed == 0 {
		f.refused(crds)
		return nil
	}
	name := string(untrusted.Line(f.file))
	if _, err := f.out.Write(linediff.Unified(name, name, before, after)); err != nil {
		return err
	}
	if !f.cfg.DryRun {
		if err := outfile.Replace(f.file, before, after); err != nil {
			f.failed(withoutPath(err))
			return nil
		}
	}
	f.sum.Fixed += e.fixed
	untrusted.Fprintf(f.err, "%s: %s\n", f.file, e.done(f.cfg.DryRun))
	for i := range now {
		now[i].doc = crds[i].doc // its line is that of the file as the user knows it
	}
	f.refused(now)
	return nil
}

// vetted are the CRDs of a file's text.
func (f *Fixer) vetted(ctx context.Context, text []byte) (crds []crd, err error) {
	input.SplitText(f.file, text, func(c input.Chunk) bool {
		return c.Each(func(doc *input.Document) bool {
			var v *Vetted
			if v, err = f.cfg.Vet(ctx, doc); v != nil {
				crds = append(crds, crd{doc, v})
			}
			return err == nil
		})
	})
	return crds, err
}

// refused tells which CRDs the server would not accept.
func (f *Fixer) refused(crds []crd) {
	for _, c := range crds {
		if !c.Report.Accepted {
			f.sum.Refused++
			untrusted.Fprintf(f.err, "%s: %s: the API server refuses it: celadon vet says why\n", c.doc.Place(), c.Report.Name)
		}
	}
}

// failed tells why a file is left as it is.
func (f *Fixer) failed(err error) {
	f.sum.Failed++
	untrusted.Fprintf(f.err, "%s: not fixed: %s\n", f.file, err.Error())
}

// withoutPath is an error without its file.
func withoutPath(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

func (c crd) advised() bool {
	return len(c.Rules) > 0 || slices.ContainsFunc(c.Report.Versions, func(v vet.Version) bool { return len(v.Advice) > 0 })
}
