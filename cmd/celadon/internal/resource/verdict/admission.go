package verdict

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
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
	c.admit(ctx, def.subject(ctx, rep, false, doc.Object, old), nil, old, rep)
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
	c.admit(ctx, def.subject(ctx, rep, false, doc.Object, old), object, old, rep)
	return rep.Verdict == finding.Valid
}

// A subject is the resource of an object that policies see.
type subject struct {
	resource    schema.GroupVersionResource
	kind        schema.GroupVersionKind
	equivalents []policy.Equivalent
	secrets     secret.Texts // of the object and its old version
	mergeable                // for mutations
}

// subject returns the subject of an object of the CRD, also for mutations if mutates is set.
func (def *Definition) subject(ctx context.Context, rep *finding.Object, mutates bool, objects ...map[string]any) subject {
	names := def.CRD.Spec.Names
	group, version, _ := strings.Cut(rep.APIVersion, "/")
	in := func(version string) (schema.GroupVersionResource, schema.GroupVersionKind) {
		return schema.GroupVersionResource{Group: group, Version: version, Resource: names.Plural}, schema.GroupVersionKind{Group: group, Version: version, Kind: names.Kind}
	}
	var s subject
	s.resource, s.kind = in(version)
	if mutates {
		s.mergeable = def.mergeables[version]()
	}
	for _, other := range def.engine.Served() {
		if other == version {
			continue
		}
		e := policy.Equivalent{}
		e.Resource, e.Kind = in(other)
		if conversion := def.CRD.Spec.Conversion; conversion != nil && conversion.Webhook != nil {
			e.Convert = func(object map[string]any) (map[string]any, error) { return def.engine.Convert(ctx, object, other) }
			e.Revert = func(object map[string]any) (map[string]any, error) { return def.engine.Convert(ctx, object, version) }
		}
		if mutates {
			m := def.mergeables[other]()
			e.Schema, e.Default = m.schema, m.setDefaults
		}
		s.equivalents = append(s.equivalents, e)
	}
	for _, obj := range objects {
		s.secrets = append(s.secrets, secret.Of(def.CRD.ForEngine(), obj).Texts...)
	}
	return s
}

// request returns the request for an object.
func (a *Admission) request(to subject, object, old map[string]any, rep *finding.Object) policy.Request {
	return policy.Request{
		Operation: policy.Operation(strings.ToUpper(rep.Operation)), Resource: to.resource, Kind: to.kind, Equivalents: to.equivalents, Subresource: rep.Subresource,
		User: a.User, Name: rep.Name, Namespace: rep.Namespace, Object: object, OldObject: old,
	}
}

// admit evaluates the policies for a request and records their decisions in rep. object is nil for a
// deletion, and old for a create.
func (c *Decider) admit(ctx context.Context, to subject, object, old map[string]any, rep *finding.Object) {
	req := c.Admission.request(to, object, old, rep)
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
	for i := range res.Evaluations {
		c.record(ctx, req, &res.Evaluations[i], to.secrets, rep)
	}
	switch {
	case !res.Allowed:
		rep.Verdict, rep.Resource = finding.Invalid, req.Resource.Resource
		rep.SetStatus(res.Failure)
	case len(res.Undecided) > 0:
		rep.Verdict, rep.Problem = finding.Undecided, reasons(res.Undecided)
	}
}

// record adds the decisions of a policy to rep.
func (c *Decider) record(ctx context.Context, req policy.Request, e *policy.Evaluation, secrets secret.Texts, rep *finding.Object) {
	for _, d := range e.Decisions {
		one := finding.PolicyDecision{
			Policy: e.Policy, Binding: e.Binding, Kind: policies.Kind, Params: e.Params, Validation: d.Validation,
			Reason: d.Reason, Message: d.Message, Error: d.Failed, Cost: d.Cost,
		}
		at := c.Admission.Policies.Validation(e.Policy, d.Validation)
		one.Expression = at.Expression
		if c.Locate {
			one.File, one.Line = at.File, at.Line
		}
		if c.Explain && len(rep.Policies) < excerpt.Shown {
			values, err := c.Admission.Policies.Set.Explain(ctx, req, e, d.Validation)
			if err != nil && ctx.Err() == nil {
				rep.Bug = err
			}
			one.Values = shownValues(values, secrets)
		}
		actions := d.Actions
		if len(actions) == 0 {
			actions = []policy.Action{""}
		}
		for _, action := range actions {
			one.Action = string(action)
			rep.Policies = append(rep.Policies, one)
		}
	}
}

func shownValues(values []policy.Value, secrets secret.Texts) (shown []finding.Value) {
	for _, v := range values {
		text := fmt.Sprintf("(%s)", v.Problem)
		if v.Problem == "" {
			text = finding.Preview(v.Value, secrets)
		}
		shown = append(shown, finding.Value{Expr: v.Expression, Text: text})
	}
	return shown
}
