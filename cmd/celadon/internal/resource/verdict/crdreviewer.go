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
	// Old is the complete CRD before the update, or nil. It has precedence over Before.
	Old *apiextensionsv1.CustomResourceDefinition
}

// Review returns the verdict on a CRD: as stored in a cluster, as an update, or as new. It returns
// nil if the context is canceled.
func (r *CRDReviewer) Review(ctx context.Context, doc *input.Document) *finding.CRD {
	cfg := vet.Config{
		KubeVersion: r.KubeVersion, FieldValidation: r.Validation, DuplicateKeys: doc.Duplicate, VerdictOnly: true, Beta: true,
	}
	c := &finding.CRD{File: doc.File, Line: doc.Line, Name: doc.Identity().Name, Causes: []finding.Cause{}}
	if cfg.Old = r.Old; cfg.Old == nil {
		cfg.Old = r.Before.Complete(c.Name)
	}
	cfg.Stored = cfg.Old == nil && r.Before == nil && resource.Stored(doc.Object) // an upgrade writes the CRD
	c.Update = cfg.Old != nil
	var err error
	var data []byte
	if data, c.Kept = resource.Applied(doc, cfg.Old); data == nil {
		data, err = doc.JSON()
	}
	var verdict *vet.Report
	if err == nil {
		verdict, err = vet.Vet(ctx, data, cfg)
	}
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
		c.Status = statusOf(verdict.Status)
		r.locate(c, doc, verdict)
	}
	return c
}

func (r *CRDReviewer) locate(c *finding.CRD, doc *input.Document, verdict *vet.Report) {
	excerpts := excerpt.NewExcerpts(doc, r.Width, &secret.Secrets{}, nil)
	path := func(field string) string { return resource.DocumentPath(doc, field) }
	fields := make([]string, len(verdict.Causes))
	for i, cause := range verdict.Causes {
		fields[i] = path(cause.Field)
	}
	c.Causes = finding.NewCauses(verdict.Causes)
	excerpts.Locate(c.Causes, doc.Locate(fields))
	if data, err := doc.JSON(); err == nil {
		hint.Explain(doc, data, []string{r.KubeVersion}, c.Causes, verdict.Needs, excerpts)
	}
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
