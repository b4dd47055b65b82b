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

// Reviewer vets documents that are open in an editor. It is safe for concurrent use.
type Reviewer struct{ v *vetter }

// NewReviewer returns a Reviewer. Options for output are ignored.
func NewReviewer(ctx context.Context, o *Options) (*Reviewer, error) {
	v, err := newVetter(ctx, command.Streams{}, o)
	if err == nil {
		v.cfg.KubeVersions = nil // an editor shows a single version
	}
	return &Reviewer{v}, err
}

// Reviewed is the result of vetting a document.
type Reviewed struct {
	// Report is nil if the document could not be vetted; Findings then holds the reason.
	Report   *vet.Report
	Findings []Finding
	one      *vetted
}

// Finding is a problem at a position.
type Finding struct {
	// ID identifies the check. Level is error, warning, or note.
	ID, Level, Text string
	At              finding.Location
	// Rule is the rule with the problem, or nil.
	Rule *engine.RuleRef
	// Write is a Go marker to add above the position, or "".
	Write string
}

// Vet vets a document. It returns nil if the document is not a CRD. The error is ctx's or an
// internal error.
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

// Fixes returns what celadon vet --fix would change, or nil without a report.
func (r *Reviewed) Fixes() *fix.Vetted {
	if r.Report == nil {
		return nil
	}
	return r.one.fixes()
}
