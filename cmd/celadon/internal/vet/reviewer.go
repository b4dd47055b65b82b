package vet

import (
	"bytes"
	"cmp"
	"context"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet/fix"
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
	Doc *input.Document
	// Report is nil if the document could not be vetted; Findings then holds the reason.
	Report   *vet.Report
	Findings []finding.Finding
	one      *vetted
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
	return &Reviewed{doc, one.report, one.findings(0), one}, nil
}

// Fixes returns what celadon vet --fix would change, or nil without a report.
func (r *Reviewed) Fixes() *fix.Vetted {
	if r.Report == nil {
		return nil
	}
	return r.one.fixes()
}

// JSON returns the CRD's part of -o json, with positions.
func (r *Reviewed) JSON() CRDReport { return newCRDReport(r.one) }

// Rejection returns the error that kubectl prints, or "" if the CRD is accepted.
func (r *Reviewed) Rejection() string {
	if r.Report == nil || r.Report.Status == nil {
		return ""
	}
	return string(print.KubectlError(r.one.kubectl(0)))
}

// Text vets the CRDs in a text for all versions of o.KubeVersion, and returns the output of -o json. The
// error is ctx.Err(), an invalid option, or an internal error.
func Text(ctx context.Context, text input.Text, o *Options) (crds []*Reviewed, report []byte, err error) {
	d, err := NewReviewer(ctx, o)
	if err == nil {
		err = o.versions(&d.v.cfg)
	}
	if err != nil {
		return nil, nil, err
	}
	var out bytes.Buffer
	var sum summary
	p, err := o.printer(o.Output, nil, &out)
	text.Each(func(doc *input.Document) {
		if err != nil || ctx.Err() != nil {
			return
		}
		var r *Reviewed
		if r, err = d.Vet(ctx, doc); r != nil && err == nil {
			crds = append(crds, r)
			sum.count(r.one)
			err = p.crd(r.one)
		}
	})
	if err = cmp.Or(err, ctx.Err()); err == nil {
		err = p.end(&sum)
	}
	return crds, out.Bytes(), err
}
