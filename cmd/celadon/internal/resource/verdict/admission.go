package verdict

import (
	"context"
	"errors"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/secret"
)

// Operations of Admission.
const (
	Create = "create"
	Update = "update"
	Delete = "delete"
)

// Admission holds the policies of a run and the requests for which they are evaluated.
type Admission struct {
	Policies *policies.Policies
	User     policy.User
	// Operation is Create, Update, or Delete. If it is "", objects with an old version are updates,
	// and the others are creates.
	Operation string
}

// operation returns the operation for all objects, or "" if it depends on the object.
func (a *Admission) operation() string {
	if a == nil {
		return ""
	}
	return a.Operation
}

// old returns the old version of an object, or nil for a create.
func (c *Decider) old(doc *input.Document, id input.Identity) map[string]any {
	operation := c.Admission.operation()
	if operation == Create {
		return nil
	}
	if old, ok := c.Olds.find(c.CRDs, doc.File, id); ok {
		return old
	}
	if operation == Update {
		return doc.Object
	}
	return nil
}

// delete decides the deletion of an object, which only policies can deny. Without an old version, the
// document is the stored object.
func (c *Decider) delete(ctx context.Context, def *Definition, doc *input.Document, rep *finding.Object) {
	rep.Operation = Delete
	stored := doc.Object
	if old, ok := c.Olds.find(c.CRDs, doc.File, rep.Identity); ok {
		stored = old
	}
	_, version, _ := strings.Cut(rep.APIVersion, "/")
	old, err := def.engine.Convert(ctx, stored, version)
	var notChecked *engine.NotCheckedError
	switch {
	case errors.As(err, &notChecked):
		rep.Verdict, rep.Problem = finding.Skipped, notChecked.Error()
		return
	case err != nil:
		rep.Verdict, rep.Problem = finding.Unreadable, err.Error()
		return
	}
	rep.Verdict = finding.Valid
	c.admit(ctx, def.subject(ctx, rep, doc.Object, old), nil, old, rep)
}

// admitWrite evaluates the policies for a write that the CRD accepts. It reports whether they accept
// it, too.
func (c *Decider) admitWrite(ctx context.Context, def *Definition, req engine.Request, doc *input.Document, object map[string]any, rep *finding.Object) bool {
	if c.Admission == nil {
		return true
	}
	old := req.OldObject
	if old != nil {
		_, version, _ := strings.Cut(rep.APIVersion, "/")
		var err error
		if old, err = def.engine.Convert(ctx, old, version); err != nil {
			rep.Verdict, rep.Problem = finding.Undecided, "policies are not evaluated: the old object: "+err.Error()
			return false
		}
	}
	c.admit(ctx, def.subject(ctx, rep, doc.Object, old), object, old, rep)
	return rep.Verdict == finding.Valid
}

// subject returns the subject of an object of the CRD.
func (def *Definition) subject(ctx context.Context, rep *finding.Object, objects ...map[string]any) policyrequest.Subject {
	return policyrequest.SubjectOf(ctx, def.CRD.ForEngine(), def.engine, rep.APIVersion, objects...)
}

// request returns the request for an object.
func (a *Admission) request(to *policyrequest.Subject, object, old map[string]any, rep *finding.Object) policy.Request {
	req := to.Request(policy.Operation(strings.ToUpper(rep.Operation)), a.User)
	req.Subresource, req.Name, req.Namespace, req.Object, req.OldObject = rep.Subresource, nameOf(object, old), rep.Namespace, object, old
	return req
}

// admit evaluates the policies for a request and records their decisions in rep. object is nil for a
// deletion, and old for a create.
func (c *Decider) admit(ctx context.Context, to policyrequest.Subject, object, old map[string]any, rep *finding.Object) {
	req := c.Admission.request(&to, object, old, rep)
	req.SetServerFields(c.now())
	res, err := c.Admission.Policies.Set.Evaluate(ctx, req)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		rep.Verdict, rep.Problem, rep.Bug = finding.Unreadable, err.Error(), err
		return
	}
	rep.Warnings = append(rep.Warnings, res.Warnings...)
	rep.AuditAnnotations = res.AuditAnnotations
	c.record(ctx, req, res, to.Secrets, rep)
	switch {
	case !res.Allowed:
		rep.Verdict, rep.Resource = finding.Invalid, req.Resource.Resource
		rep.SetStatus(res.Failure)
	case len(res.Undecided) > 0:
		rep.Verdict, rep.Problem = finding.Undecided, reasons(res.Undecided)
	}
}

// nameOf returns metadata.name of the first object that has one. The name in a report can also be a
// generateName.
func nameOf(objects ...map[string]any) string {
	for _, object := range objects {
		meta, _ := object["metadata"].(map[string]any)
		if name, _ := meta["name"].(string); name != "" {
			return name
		}
	}
	return ""
}

// record adds the decisions of policies to rep.
func (c *Decider) record(ctx context.Context, req policy.Request, res *policy.Result, secrets secret.Texts, rep *finding.Object) {
	describer := policyrequest.Describer{Set: c.Admission.Policies.Set, Validation: c.Admission.Policies.Validation, Explain: c.Explain}
	list, err := describer.Decisions(ctx, req, res, secrets)
	if err != nil && ctx.Err() == nil {
		rep.Bug = err
	}
	if !c.Locate {
		for i := range list {
			list[i].File, list[i].Line = "", 0
		}
	}
	rep.Policies = list
}
