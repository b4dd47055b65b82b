package verdict

import (
	"context"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/secret"
)

// A CRDReviewer determines whether the API server would accept the CRDs that objects are checked
// against. If it would not, the results for the objects have little meaning.
type CRDReviewer struct {
	KubeVersion string
	Validation  string // fieldValidation: how to treat unknown and duplicate fields
	Before      *CRDs  // the CRDs of --crd-old; nil without it
	Width       int    // of excerpts
	// old is the complete CRD before the update, whether or not it was read from a server.
	old *apiextensionsv1.CustomResourceDefinition
	// Now is set if CRDs are reported before the objects instead of after them.
	Now  bool
	kept atomic.Int64 // bytes of sources and objects that wait for their verdict
}

// maxKept limits the bytes of CRDs whose verdict is postponed. Objects are decided first, because
// users wait for their results.
const maxKept = 4 << 20

// A CRDVerdict is a CRD and its verdict, which may be computed later.
type CRDVerdict struct {
	report *finding.CRD // nil until the verdict is computed
	doc    *input.Document
	// conflict is set if the CRD differs from another CRD of its name.
	conflict string
}

// soon computes the verdict on a CRD, or keeps the document to compute it later.
func (j *CRDReviewer) soon(ctx context.Context, doc *input.Document) *CRDVerdict {
	source, _, inList := doc.Source()
	if j.Now || inList || j.kept.Add(2*int64(len(source))) > maxKept {
		return &CRDVerdict{report: j.review(ctx, doc)}
	}
	doc.Detach()
	return &CRDVerdict{doc: doc}
}

// Report returns the verdict, or nil if the context is canceled. By must be the reviewer that read
// the CRD.
func (v *CRDVerdict) Report(ctx context.Context, by *CRDReviewer) *finding.CRD {
	report := v.report
	if report == nil {
		report = by.review(ctx, v.doc)
	}
	if report != nil && report.Accepted && v.conflict != "" {
		report.Accepted, report.Undecided, report.Problem = false, true, v.conflict
	}
	return report
}

// ReviewCRD returns the API server's verdict on creating a CRD, or on replacing old by it if old is
// not nil.
func ReviewCRD(ctx context.Context, kubeVersion string, doc *input.Document, old *apiextensionsv1.CustomResourceDefinition) *finding.CRD {
	return (&CRDReviewer{KubeVersion: kubeVersion, old: old}).review(ctx, doc)
}

// review returns the verdict on a CRD: as stored in a cluster, as an update, or as new. It returns
// nil if the context is canceled.
func (j *CRDReviewer) review(ctx context.Context, doc *input.Document) *finding.CRD {
	cfg := vet.Config{KubeVersion: j.KubeVersion, FieldValidation: j.Validation, DuplicateKeys: doc.Duplicate, VerdictOnly: true, Beta: true}
	c := &finding.CRD{File: doc.File, Line: doc.Line, Name: doc.Identity().Name, Causes: []finding.Cause{}}
	if cfg.Old = j.old; cfg.Old == nil {
		cfg.Old = j.Before.Complete(c.Name)
	}
	cfg.Stored = cfg.Old == nil && j.Before == nil && resource.Stored(doc.Object) // otherwise it would be written
	c.Update = cfg.Old != nil
	verdict, err := vetDocument(ctx, doc, cfg)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		c.Bug = err
		return c
	}
	c.Accepted, c.Warnings = verdict.Accepted, verdict.Warnings
	if verdict.Undecided != nil && verdict.Status == nil {
		c.Undecided, c.Problem = true, verdict.Undecided.Error()
	}
	if verdict.Status != nil {
		c.Status = &finding.Status{Code: verdict.Status.Code, Reason: string(verdict.Status.Reason), Message: verdict.Status.Message}
		j.locate(c, doc, verdict)
	}
	return c
}

// vetDocument vets the CRD in a document. Few documents have keys that a server reports, so that their JSON
// is needed.
func vetDocument(ctx context.Context, doc *input.Document, cfg vet.Config) (*vet.Report, error) {
	v, err := types.ParseVersion(cfg.KubeVersion)
	if err != nil {
		return nil, err
	}
	if v.Minor == types.Newest {
		if crd, ok := resource.DecodeStrict(doc); ok {
			return vet.VetCRD(ctx, crd, cfg)
		}
	}
	data, err := doc.JSON()
	if err != nil {
		return nil, err
	}
	return vet.Vet(ctx, data, cfg)
}

// locate adds the causes with their positions and excerpts.
func (j *CRDReviewer) locate(c *finding.CRD, doc *input.Document, verdict *vet.Report) {
	excerpts := excerpt.NewExcerpts(doc, j.Width, &secret.Secrets{}, nil)
	fields := make([]string, len(verdict.Causes))
	for i, cause := range verdict.Causes {
		fields[i] = resource.DocumentPath(doc, cause.Field)
	}
	c.Causes = finding.NewCauses(verdict.Causes)
	excerpts.Locate(c.Causes, doc.Locate(fields))
	if data, err := doc.JSON(); err == nil {
		hint.Explain(doc, data, j.KubeVersion, c.Causes, excerpts)
	}
	for i := range c.Causes {
		c.Causes[i].Ref = nil // the rule is part of the CRD, not of an object
	}
	c.Strict = excerpt.StrictCRD(doc, verdict.Strict, excerpts)
	if doc.Duplicate != nil {
		c.Strict = append(excerpt.Duplicates(doc, excerpts), c.Strict...)
	}
}

// Complete returns the complete CRD with the given name, or nil. CRDs are complete only if they were
// read with Use.Before.
func (d *CRDs) Complete(name string) *apiextensionsv1.CustomResourceDefinition {
	if d == nil {
		return nil
	}
	if def := d.byEntry[d.catalog.Named(name)]; def != nil {
		return def.complete
	}
	return nil
}
