package verdict

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// decideBuiltin decides an object of a built-in kind by its structure and the policies. It reports
// whether the object's kind is built in.
func (c *Decider) decideBuiltin(ctx context.Context, doc *input.Document, rep *finding.Object) bool {
	gvk := schema.FromAPIVersionAndKind(rep.APIVersion, rep.Kind)
	kind, err := c.builtins.Kind(gvk, engine.Config{KubeVersion: c.KubeVersion})
	if err == nil && kind == nil {
		return false
	}
	rep.StructureOnly = true
	if err != nil {
		rep.Verdict, rep.Problem, rep.Bug = finding.Unreadable, err.Error(), err
		return true
	}
	rep.Namespace = kind.Namespace(rep.Namespace, nameOf(doc.Object))
	old := c.old(doc, rep.Identity)
	to := kind.Subject(doc.Object, old)
	switch {
	case c.Admission.operation() == Delete:
		rep.Operation, rep.Verdict = Delete, finding.Valid
		if old == nil {
			old = doc.Object
		}
		c.admit(ctx, to, nil, old, rep)
		return true
	case old != nil:
		rep.Operation = Update
	default:
		rep.Operation = Create
	}
	object := c.structured(ctx, kind, doc, old, rep)
	if object != nil && c.Admission.Policies.Mutates() {
		object, _, _ = c.mutated(ctx, subject{to, c.mergeables.of(kind)}, object, old, rep)
	}
	if object != nil {
		c.admit(ctx, to, object, old, rep)
	}
	return true
}

// structured returns an object of a built-in kind with defaults. If the object is rejected, it
// records the reason in rep and returns nil. old is nil for a create.
func (c *Decider) structured(ctx context.Context, kind *policyrequest.Builtin, doc *input.Document, old map[string]any, rep *finding.Object) map[string]any {
	res, err := kind.Write(ctx, engine.Request{Object: doc.Object, OldObject: old, FieldValidation: c.Validation, DuplicateKeys: doc.Duplicate}, rep.Name)
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.As(err, &rep.Limit):
		rep.Verdict, rep.Problem = finding.Undecided, err.Error()
		return nil
	case err != nil:
		rep.Verdict, rep.Problem, rep.Bug = finding.Unreadable, err.Error(), err
		return nil
	}
	rep.Verdict = finding.Valid
	rep.Warnings = append(rep.Warnings, res.Warnings...)
	if res.Allowed {
		return res.Object
	}
	rep.Verdict = finding.Invalid
	rep.Status = &finding.Status{Code: res.Failure.Code, Reason: string(res.Failure.Reason), Message: res.Failure.Message}
	for _, cause := range res.Causes {
		rep.Causes = append(rep.Causes, finding.Cause{Reason: string(cause.Reason), Field: cause.Field, Message: cause.Message})
	}
	rep.Duplicate = doc.Duplicate != nil && len(res.Strict) > 0
	c.locateBuiltin(doc, rep)
	return nil
}

// locateBuiltin adds the positions of causes, without excerpts, because the schemas of built-in kinds
// do not mark secrets.
func (c *Decider) locateBuiltin(doc *input.Document, rep *finding.Object) {
	if !c.Locate {
		return
	}
	fields := make([]string, len(rep.Causes))
	for i := range rep.Causes {
		fields[i] = rep.Causes[i].Field
	}
	for i, at := range doc.Locate(fields) {
		if at.Line > 0 {
			rep.Causes[i].File, rep.Causes[i].Line, rep.Causes[i].Column = doc.File, at.Line, at.Column
		}
	}
}
