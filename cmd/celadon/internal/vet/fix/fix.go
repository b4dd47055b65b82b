// Package fix implements celadon vet --fix. It sets the bounds that vet advises, corrects misspelled keys and rules
// that do not compile, and, with --find, rewrites rules with certain lints, in the files from which the CRDs were
// read. It shows the changes as diffs.
//
//	f := fix.New(fix.Config{Vet: vet, Out: stdout, Err: stderr})
//	err := f.Add(ctx, doc, vetted) // for each CRD, in the order of the input
//	err := f.End(ctx)
package fix

// How it works: the CRDs of a file are collected until the next file begins. Then the file is
// read again and checked to still contain the text of each CRD, and all edits are applied. The
// result is vetted before it is written, so that errors that remain are reported. It is written as
// a whole, if the file has not changed in the meantime.

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

// Config holds the options of a Fixer.
type Config struct {
	// Vet vets a document. It returns nil if the document is not a readable CRD.
	Vet func(context.Context, *input.Document) (*Vetted, error)
	// Out receives the diffs, and Err the other messages. Both are wrapped in untrusted.Writer.
	Out, Err io.Writer
	// DryRun shows the diffs without writing files.
	DryRun bool
}

// Vetted is a CRD's report with rewrites.
type Vetted struct {
	Report *vet.Report
	// Accepted is set if all Kubernetes versions that determine the verdict accept the CRD.
	Accepted bool
	// Keys are the misspelled keys to correct, and Rules the rules to rewrite.
	Keys  []vet.UnknownKey
	Rules []crdedit.Text
	// Suggested counts the corrections of rules that are not made, because the author may have meant
	// something else.
	Suggested int
}

// Fixer fixes files one after another.
type Fixer struct {
	cfg      Config
	out, err io.Writer
	file     string
	crds     []crd
	sum      Summary
}

// A Summary is the result of a Fixer.
type Summary struct {
	// CRDs counts all CRDs, Fixed the changed CRDs, and Rejected those that the server would reject
	// after fixing.
	CRDs, Fixed, Rejected int
	// NotFixed counts the CRDs whose fixes must be made by hand.
	NotFixed int
	// Failed counts files that could not be fixed, and CRDs that could not be decoded.
	Failed int
}

type crd struct {
	doc *input.Document
	*Vetted
}

// New returns a Fixer.
func New(cfg Config) *Fixer {
	return &Fixer{cfg: cfg, out: untrusted.NewWriter(cfg.Out), err: untrusted.NewWriter(cfg.Err)}
}

// Add adds a CRD. If the previous CRD is from another file, Add first fixes that file. The error is
// ctx.Err(), or the error of vetting the result or writing the diff.
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

// Generated reports a CRD that is generated from another document, which is not changed.
func (f *Fixer) Generated(doc *input.Document, v *Vetted) {
	f.sum.CRDs++
	c := crd{doc, v}
	if c.advised() {
		f.notFixed(c, fmt.Errorf("it is generated from a %s: make the changes that celadon vet shows by hand", doc.Original["kind"]))
	}
	f.rejected([]crd{c})
}

func (f *Fixer) notFixed(c crd, err error) {
	f.sum.NotFixed++
	untrusted.Fprintf(f.err, "%s: %s: not fixed: %s\n", c.doc.Location(), c.Report.Name, err.Error())
}

// Unreadable reports a document that cannot be decoded as a CRD.
func (f *Fixer) Unreadable(doc *input.Document, err error) {
	f.sum.Failed++
	untrusted.Fprintf(f.err, "%s: %s\n", doc.Location(), err.Error())
}

// Summary returns the counts so far.
func (f *Fixer) Summary() Summary { return f.sum }

// End fixes the last file.
func (f *Fixer) End(ctx context.Context) error {
	crds := f.crds
	f.crds = nil
	if len(crds) == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	if !slices.ContainsFunc(crds, crd.advised) {
		f.rejected(crds)
		return nil
	}
	before, err := os.ReadFile(f.file)
	if err != nil {
		f.failed(input.WithoutPath(err))
		return nil
	}
	after, now, done, err := f.rounds(ctx, crds, before)
	if err != nil || done.crds == 0 {
		return err
	}
	return f.write(crds, now, done, before, after)
}

// maxRounds limits how often the CRDs of a file are fixed and vetted again. A corrected key can show
// that rules need bounds, or do not compile.
const maxRounds = 4

// rounds fixes the CRDs of a file until nothing is left to fix. If done.crds is 0, it has reported why.
func (f *Fixer) rounds(ctx context.Context, crds []crd, before []byte) (after []byte, now []crd, done counts, err error) {
	after, now = before, crds
	for round := 0; round < maxRounds && slices.ContainsFunc(now, crd.advised); round++ {
		e := edit{text: after, counts: done}
		e.counts.crds = 0 // a CRD can be fixed in several rounds
		for i, c := range now {
			if !c.advised() {
				continue
			}
			if err := e.follow(c); errors.Is(err, outfile.ErrChanged) {
				f.failed(err)
				return nil, nil, counts{}, nil
			} else if err != nil && round == 0 {
				f.notFixed(crds[i], err)
			}
		}
		if e.counts.crds == 0 {
			break
		}
		text, err := e.result()
		if err == nil {
			after = text
			now, err = f.vetted(ctx, after)
			if ctx.Err() != nil || err != nil {
				return nil, nil, counts{}, err
			}
			if len(now) != len(crds) {
				err = outfile.ErrChanged
			}
		}
		if err != nil {
			f.failed(err)
			return nil, nil, counts{}, nil
		}
		e.counts.crds = max(done.crds, e.counts.crds)
		done = e.counts
	}
	if done.crds == 0 {
		f.rejected(crds)
	}
	return after, now, done, nil
}

func (f *Fixer) write(crds, now []crd, done counts, before, after []byte) error {
	if i := slices.IndexFunc(now, func(c crd) bool { return len(c.Rules) > 0 }); i >= 0 {
		f.failed(fmt.Errorf("%s: its rules would still fail: run celadon vet --find to see how to guard each", now[i].Report.Name))
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
	f.sum.Fixed += done.crds
	untrusted.Fprintf(f.err, "%s: %s\n", f.file, done.summary(f.cfg.DryRun))
	for i := range now {
		now[i].doc = crds[i].doc // report lines of the original file
	}
	f.rejected(now)
	return nil
}

func (f *Fixer) vetted(ctx context.Context, text []byte) (crds []crd, err error) {
	for doc := range (input.Text{File: f.file, Data: text}).Documents {
		v, err := f.cfg.Vet(ctx, doc)
		if v != nil {
			crds = append(crds, crd{doc, v})
		}
		if err != nil {
			return crds, err
		}
	}
	return crds, nil
}

func (f *Fixer) rejected(crds []crd) {
	for _, c := range crds {
		if c.Accepted && c.Suggested > 0 {
			untrusted.Fprintf(f.err, "%s: %s: not guarded: run celadon vet --find to choose what happens to objects without the field, or use "+
				"--fix=suggested\n", c.doc.Location(), c.Report.Name)
		}
		if !c.Accepted {
			f.sum.Rejected++
			next := "run celadon vet for details"
			if c.Suggested > 0 {
				next = "run celadon vet to review what it suggests, or use --fix=suggested"
			}
			untrusted.Fprintf(f.err, "%s: %s: the API server rejects it: %s\n", c.doc.Location(), c.Report.Name, next)
		}
	}
}

func (f *Fixer) failed(err error) {
	f.sum.Failed++
	untrusted.Fprintf(f.err, "%s: not fixed: %s\n", f.file, err.Error())
}

func withoutPath(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

func (c crd) advised() bool {
	return len(c.Keys) > 0 || len(c.Rules) > 0 || slices.ContainsFunc(c.Report.Versions, func(v vet.Version) bool { return len(v.Advice) > 0 })
}
