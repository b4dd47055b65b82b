package vet

import (
	"context"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet/fix"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
)

// Reviewer vets documents that an editor has open. It is safe for concurrent use.
type Reviewer struct{ v *vetter }

// NewReviewer makes one; of the options those count that say what is vetted.
func NewReviewer(ctx context.Context, o *Options) (*Reviewer, error) {
	v, err := newVetter(ctx, command.Streams{}, o)
	return &Reviewer{v}, err
}

// Reviewed is what celadon vet says of a document.
type Reviewed struct {
	// Report is nil where there is none; the findings say why.
	Report   *vet.Report
	Findings []Finding
	one      *vetted
}

// Finding is one thing to say at one place.
type Finding struct {
	// ID names what was found; Level is error, warning or note.
	ID, Level, Text string
	At              finding.Place
	// Rule is the rule that it is about; nil where it is about none.
	Rule *engine.RuleRef
	// Write is a marker that is missing above the place in Go; "" is none.
	Write string
}

// Vet is nil for a document that is no CRD. The error is the context's, or a bug.
func (d *Reviewer) Vet(ctx context.Context, doc *input.Document) (*Reviewed, error) {
	one := d.v.vet(ctx, doc)
	switch {
	case one == nil:
		return nil, nil
	case one.bug:
		return nil, one.problem
	}
	r := &Reviewed{Report: one.report, one: one}
	for _, f := range one.findings() {
		r.Findings = append(r.Findings, Finding{f.id, f.level, f.body(), f.at, f.ref, ""})
	}
	return r, nil
}

// Fixes are what celadon vet --fix does of itself; nil where there is no report.
func (r *Reviewed) Fixes() *fix.Vetted {
	if r.Report == nil {
		return nil
	}
	return r.one.fixes()
}
