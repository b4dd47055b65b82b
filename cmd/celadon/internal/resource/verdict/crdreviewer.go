package verdict

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/x/secret"
)

// A CRDReviewer determines whether the API server would accept the CRDs that objects are checked
// against. If it would not, the results for the objects have little meaning.
type CRDReviewer struct {
	KubeVersion string
	Validation  string // fieldValidation: how to treat unknown and duplicate fields
	Before      *CRDs  // the CRDs before an upgrade; nil without an upgrade
	Width       int    // of excerpts
	// old is the complete CRD before the update, whether or not it was read from a server.
	old *apiextensionsv1.CustomResourceDefinition
}

// ReviewCRD returns the API server's verdict on creating a CRD, or on replacing old by it if old is not nil.
func ReviewCRD(ctx context.Context, kubeVersion string, doc *input.Document, old *apiextensionsv1.CustomResourceDefinition) *finding.CRD {
	return (&CRDReviewer{KubeVersion: kubeVersion, old: old}).review(ctx, doc)
}

// review returns the verdict on a CRD: as stored in a cluster, as an update, or as new. It returns
// nil if the context is canceled.
func (r *CRDReviewer) review(ctx context.Context, doc *input.Document) *finding.CRD {
	cfg := vet.Config{
		KubeVersion: r.KubeVersion, FieldValidation: r.Validation, DuplicateKeys: doc.Duplicate, VerdictOnly: true, Beta: true,
	}
	c := &finding.CRD{File: doc.File, Line: doc.Line, Name: doc.Identity().Name, Causes: []finding.Cause{}}
	if cfg.Old = r.old; cfg.Old == nil {
		cfg.Old = r.Before.Complete(c.Name)
	}
	cfg.Stored = cfg.Old == nil && r.Before == nil && resource.Stored(doc.Object) // otherwise it would be written
	c.Update = cfg.Old != nil
	applied, kept := resource.Applied(doc, cfg.Old)
	c.Kept = kept
	verdict, err := vetDocument(ctx, doc, applied, cfg)
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
		r.locate(c, doc, verdict)
	}
	return c
}

// vetDocument vets the CRD in a document, or applied if it is not nil.
func vetDocument(ctx context.Context, doc *input.Document, applied []byte, cfg vet.Config) (*vet.Report, error) {
	if applied != nil {
		return vet.Vet(ctx, applied, cfg)
	}
	data, err := doc.JSON()
	if err != nil {
		return nil, err
	}
	return vet.Vet(ctx, data, cfg)
}

// locate adds the causes with their positions and excerpts.
func (r *CRDReviewer) locate(c *finding.CRD, doc *input.Document, verdict *vet.Report) {
	excerpts := excerpt.NewExcerpts(doc, r.Width, &secret.Secrets{}, nil)
	fields := make([]string, len(verdict.Causes))
	for i, cause := range verdict.Causes {
		fields[i] = resource.DocumentPath(doc, cause.Field)
	}
	c.Causes = finding.NewCauses(verdict.Causes)
	excerpts.Locate(c.Causes, doc.Locate(fields))
	if data, err := doc.JSON(); err == nil {
		hint.Explain(doc, data, []string{r.KubeVersion}, c.Causes, verdict.Needs, excerpts)
	}
	path := func(field string) string { return resource.DocumentPath(doc, field) }
	(&hint.Subject{Excerpts: excerpts, Path: path}).Outside(c.Causes)
	for i := range c.Causes {
		c.Causes[i].Ref = nil // the rule is part of the CRD, not of an object
	}
	if c.Strict = hint.Strict(verdict.Strict, excerpts); len(c.Strict) == 0 && len(c.Causes) == 0 {
		c.Strict = hint.Mistyped(excerpts)
	}
	if doc.Duplicate != nil {
		c.Strict = append(excerpt.Duplicates(doc, excerpts), c.Strict...)
	}
}

// Complete returns the complete CRD with the given name, or nil. CRDs are complete only if they were
// read with Use.Before.
func (c *CRDs) Complete(name string) *apiextensionsv1.CustomResourceDefinition {
	if c == nil {
		return nil
	}
	if def := c.byEntry[c.catalog.Named(name)]; def != nil {
		return def.complete
	}
	return nil
}
