package verdict

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/trace"
)

// Config determines how objects are decided, and the contents of the report about them.
type Config struct {
	KubeVersion string
	// Validation is the fieldValidation of the request: Strict, Warn, or Ignore.
	Validation string
	// Subresource is status, scale, or "".
	Subresource string
	// Kustomizations, if not nil, determines which files below folders are patches instead of objects.
	Kustomizations *resource.Kustomizations
	// Among is set if the CRDs are among the documents. They are then not counted as objects.
	Among bool
	// Named lists the files that the user named, in contrast to files that were found below a folder.
	Named []string
	// Width is the width of excerpts; 0 means the default.
	Width int

	// Locate adds positions and excerpts. Explain adds the values in failed rules. Trace adds each
	// rule that ran.
	Locate, Explain, Trace bool
	// These add data about accepted objects: the persisted object, its selectable fields, the
	// difference between the input and the persisted object, and the row of kubectl get at the time
	// Now. A zero Now means the current time.
	Persisted, Selectable, Diff, Row bool
	Now                              time.Time

	// Keyed adds the key of each object.
	Keyed bool
	// Elsewhere, if not nil, reports whether another shard decides an object.
	Elsewhere func(*finding.Object) bool
	// Selector, if not nil, selects the objects that are reported.
	Selector fields.Selector
	// Observe, if not nil, is called for each run of a rule.
	Observe func(engine.RuleRun)
	// Admission, if not nil, holds the policies for accepted objects.
	Admission *Admission
}

// crdGroup is the group of CRDs.
const crdGroup = "apiextensions.k8s.io"

// A Decider decides documents. It is safe for concurrent use.
type Decider struct {
	Config
	CRDs   *CRDs
	Before *CRDs // the CRDs of --crd-old; nil without it
	Olds   *Olds // nil means that there are no old objects
	// Explained limits the explanations of a run. Callers that print results must call Settle.
	Explained trace.Run

	templates  templates
	charts     resource.Charts
	builtins   policyrequest.Builtins
	mergeables builtinMergeables
}

// Problems returns the errors of the CRDs and of the old objects.
func (c *Decider) Problems() []error {
	problems := append(c.CRDs.Found(), c.Olds.problems()...)
	if c.Before != nil {
		problems = append(problems, c.Before.Found()...)
	}
	return problems
}

// Notes returns remarks about the input that do not affect the verdicts.
func (c *Decider) Notes() []error {
	return slices.Concat(c.CRDs.charts.Notes(), c.charts.Notes(), c.Kustomizations.Notes())
}

// Decide returns the verdict on a document, or nil if the context is canceled.
func (c *Decider) Decide(ctx context.Context, doc *input.Document) *finding.Object {
	if ctx.Err() != nil {
		return nil
	}
	rep := newReport(doc)
	if c.Keyed {
		rep.Key = c.CRDs.Key(doc.Named())
	}
	if c.Elsewhere != nil && c.Elsewhere(rep) {
		rep.Verdict = finding.Elsewhere
		return rep
	}
	if resource.IsBelowFolder(doc, c.Named) {
		if why := resource.NoObject(doc); why != "" {
			rep.Verdict, rep.Problem = finding.Ignored, why
			return rep
		}
	}
	if resource.IsBelowFolder(doc, c.Named) && c.Kustomizations.IsPatch(doc.File) {
		rep.Verdict, rep.Problem = finding.Ignored, "a patch of kustomize"
		return rep
	}
	if c.charts.Has(doc, c.Named) {
		rep.Line, rep.Verdict, rep.Problem = 0, finding.Ignored, "a template of a Helm chart"
		rep.Template = true
		return rep
	}
	if c.templates.has(doc) {
		rep.Line, rep.Verdict, rep.Problem = 0, finding.Unreadable, errTemplate.Error()
		rep.Template = true
		return rep
	}
	id := doc.Identity()
	def, typed := c.CRDs.addressee(doc.Object, id)
	if err := readable(doc, id); err != nil && (typed || def == nil) {
		rep.Verdict, rep.Problem = finding.Unreadable, err.Error()
		return rep
	}
	rep.Identity = id
	if def == nil {
		if problem := c.CRDs.conflicts[id.GroupKind()]; problem != "" && typed {
			rep.Verdict, rep.Problem = finding.Undecided, problem
			return rep
		}
		if c.Among && (id.Kind == resource.Kind && id.GroupKind().Group == crdGroup || resource.Generates(doc)) {
			rep.Verdict, rep.Problem = finding.Ignored, "a definition: the objects are checked against it"
			return rep
		}
		if c.Admission != nil && typed && c.decideBuiltin(ctx, doc, rep) {
			return rep
		}
		if typed && c.unknownKind(rep) {
			return rep
		}
		rep.Verdict, rep.Problem = finding.Skipped, fmt.Sprintf("no CRD given for %s", id.GroupKind())
		return rep
	}
	if def.engine.Info().Namespaced && rep.Namespace == "" {
		rep.Namespace = metav1.NamespaceDefault
	}
	if c.Before != nil && typed {
		c.upgrade(ctx, def, doc, rep)
		c.choose(def, doc.Object, rep)
	} else if typed && unserved(def, rep) {
		c.choose(def, doc.Object, rep)
	} else if typed && c.Admission.operation() == Delete {
		c.delete(ctx, def, doc, rep)
		c.choose(def, doc.Object, rep)
	} else {
		c.choose(def, c.write(ctx, def, doc, rep), rep)
	}
	if ctx.Err() != nil {
		return nil
	}
	return rep
}

func newReport(doc *input.Document) *finding.Object {
	return &finding.Object{File: doc.File, Document: doc.Index, Item: doc.Item, Line: doc.Line, Warnings: []string{}, Causes: []finding.Cause{}}
}

func readable(doc *input.Document, id input.Identity) error {
	switch {
	case doc.Err != nil:
		return doc.Err
	case id.APIVersion != "" && id.Kind != "":
		return nil
	case mistyped(doc.Object):
		return errors.New("not a Kubernetes object: apiVersion or kind is not a string")
	}
	return errors.New("not a Kubernetes object: apiVersion or kind is missing")
}

// unserved reports whether the CRD does not serve the object's version, and rejects the object if
// so. A client finds no endpoint for such an object.
func unserved(def *Definition, rep *finding.Object) bool {
	_, version, _ := strings.Cut(rep.APIVersion, "/")
	if slices.Contains(def.served, version) {
		return false
	}
	rep.Verdict, rep.Operation = finding.Invalid, "create"
	rep.Status = &finding.Status{
		Code:    404,
		Reason:  string(metav1.StatusReasonNotFound),
		Message: fmt.Sprintf("no matches for kind %q in version %q: the CRD serves %s", rep.Kind, rep.APIVersion, strings.Join(def.served, ", ")),
	}
	return true
}

// noSubresource reports whether the object's version lacks the subresource to be written, and
// rejects the write if so. The server has no such endpoint.
func (c *Decider) noSubresource(def *Definition, doc *input.Document, rep *finding.Object) bool {
	sub, v := c.Subresource, def.view(doc.Object)
	if sub == "" || v == nil || slices.Contains(v.subresources, sub) {
		return false
	}
	rep.Verdict, rep.Operation = finding.Invalid, "update"
	rep.Status = &finding.Status{
		Code:    404,
		Reason:  string(metav1.StatusReasonNotFound),
		Message: fmt.Sprintf("the server could not find the requested resource: version %s of the CRD has no %s subresource", v.table().Kind.Version, sub),
	}
	return true
}

// write decides a create, or an update if there is an old object. It returns the object as
// persisted, or as far as it was processed.
func (c *Decider) write(ctx context.Context, def *Definition, doc *input.Document, rep *finding.Object) map[string]any {
	req := engine.Request{Object: doc.Object, FieldValidation: c.Validation, Subresource: c.Subresource, Trace: c.Trace, Observe: c.Observe, DuplicateKeys: doc.Duplicate, Ratcheted: c.Locate}
	if doc.Raw != nil {
		req.Object, req.Raw = nil, doc.Raw
	}
	rep.Operation, rep.Subresource = "create", c.Subresource
	if c.noSubresource(def, doc, rep) {
		return doc.Object
	}
	if old := c.old(doc, rep.Identity); old != nil {
		rep.Operation, req.OldObject = "update", old
	} else if c.Subresource != "" {
		rep.Verdict, rep.Problem = finding.Skipped, "no old object for a "+c.Subresource+" update"
		return doc.Object
	}
	return c.request(ctx, def, req, doc, rep)
}

// request validates req and records the result in rep. It returns the object as persisted, or as far
// as it was processed.
func (c *Decider) request(ctx context.Context, def *Definition, req engine.Request, doc *input.Document, rep *finding.Object) map[string]any {
	req, ok := c.mutate(ctx, def, req, rep)
	if !ok {
		return doc.Object
	}
	res, ok := validate(ctx, def.engine, req, rep)
	if !ok {
		return doc.Object
	}
	rep.Cost, rep.Rules = res.Cost, res.Rules
	rep.Warnings = append(rep.Warnings, res.Warnings...)
	if res.Allowed {
		if couldBeTooLarge(doc) {
			rep.Warnings = append(rep.Warnings, tooLarge(doc.JSON, res)...)
		}
		if !c.admitWrite(ctx, def, req, doc, res.Object, rep) {
			return doc.Object
		}
		c.locateRatcheted(def, req, doc, res, rep)
		c.show(def, req, doc, res, rep)
		return res.Object
	}
	c.reject(ctx, def, req, doc, res, rep)
	if p := res.Prepared; p != nil {
		return p.Self
	}
	return doc.Object
}

// validate returns the result of req. Without a result, it records the reason in rep and
// returns false.
func validate(ctx context.Context, e *engine.Engine, req engine.Request, rep *finding.Object) (*engine.Result, bool) {
	res, err := e.Validate(ctx, req)
	var notChecked *engine.NotCheckedError
	var failed *conversion.Error
	switch {
	case errors.As(err, &rep.Limit):
		rep.Verdict, rep.Problem = finding.Undecided, err.Error()
		return nil, false
	case errors.As(err, &failed): // the converter that the user named does not respond
		rep.Verdict, rep.Problem = finding.Undecided, "not checked: "+err.Error()
		return nil, false
	case errors.As(err, &notChecked):
		rep.Verdict, rep.Problem = finding.Skipped, notChecked.Error()
		return nil, false
	case err != nil:
		rep.Verdict, rep.Problem, rep.Bug = finding.Unreadable, err.Error(), err
		return nil, false
	}
	rep.Verdict = finding.Valid
	return res, true
}
