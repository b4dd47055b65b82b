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
)

// Operations of Admission.
const (
	Create  = "create"
	Update  = "update"
	Delete  = "delete"
	Connect = "connect"
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

// old returns the old version of the object, or nil for a create.
func (d *decision) old() map[string]any {
	operation := d.Admission.operation()
	if operation == Create {
		return nil
	}
	if old, ok := d.Olds.find(d.CRDs, d.doc.File, d.report.Identity); ok {
		return old
	}
	if operation == Update {
		return d.doc.Object
	}
	return nil
}

// delete decides the deletion of an object, which only policies can deny. Without an old version, the
// document is the stored object.
func (d *decision) delete(ctx context.Context) outcome {
	d.report.Operation = Delete
	stored := d.doc.Object
	if old, ok := d.Olds.find(d.CRDs, d.doc.File, d.report.Identity); ok {
		stored = old
	}
	old, err := d.def.engine.Convert(ctx, stored, d.report.Version())
	var notChecked *engine.NotCheckedError
	switch {
	case errors.As(err, &notChecked):
		return outcome{verdict: finding.Skipped, problem: notChecked.Error()}
	case err != nil:
		return outcome{verdict: finding.Unreadable, problem: err.Error()}
	}
	if out := d.admit(ctx, d.def.custom.Subject(ctx, d.report.APIVersion, d.doc.Object, old), nil, old); out.verdict != "" {
		return out
	}
	return outcome{verdict: finding.Valid}
}

// admitWrite evaluates the policies for a write that the CRD accepts. Without a verdict, they accept it, too.
func (d *decision) admitWrite(ctx context.Context, req engine.Request, object map[string]any) outcome {
	if d.Admission == nil {
		return outcome{}
	}
	old := req.OldObject
	if old != nil {
		var err error
		if old, err = d.def.engine.Convert(ctx, old, d.report.Version()); err != nil {
			return outcome{verdict: finding.Undecided, problem: "policies are not evaluated: the old object: " + err.Error()}
		}
	}
	return d.admit(ctx, d.def.custom.Subject(ctx, d.report.APIVersion, d.doc.Object, old), object, old)
}

// review returns the review of the write.
func (d *decision) review() *policyrequest.Review {
	r := &policyrequest.Review{
		Operation: policy.Operation(strings.ToUpper(d.report.Operation)), Subresource: d.report.Subresource,
		Name: nameOf(d.doc.Object), Namespace: d.report.Namespace, Now: d.now(),
	}
	if d.Admission != nil {
		r.Set, r.User = d.Admission.Policies.Set, d.Admission.User
	}
	return r
}

// mutate evaluates the mutating policies for a write and returns the request with the changed object. Without a
// verdict, the write goes on.
func (d *decision) mutate(ctx context.Context, req engine.Request) (engine.Request, outcome) {
	if d.Admission == nil || !d.Admission.Policies.Mutates() {
		return req, outcome{}
	}
	review, to := d.review(), d.def.custom.Subject(ctx, d.report.APIVersion)
	_, err := review.MutateCustom(ctx, &to, d.def.engine, &req)
	return req, d.reviewed(ctx, review, &to, err)
}

// admit evaluates the policies for a request and records their decisions in the report. Without a verdict, they accept
// it. object is nil for a deletion, and old for a create.
func (d *decision) admit(ctx context.Context, to policyrequest.Subject, object, old map[string]any) outcome {
	review := d.review()
	_, err := review.Validate(ctx, &to, object, old)
	return d.reviewed(ctx, review, &to, err)
}

// reviewed records the results of a review in the report. Without a verdict, the write goes on.
func (d *decision) reviewed(ctx context.Context, r *policyrequest.Review, to *policyrequest.Subject, err error) outcome {
	if err != nil {
		return failed(err)
	}
	d.report.Warnings = append(d.report.Warnings, r.Received...)
	for i := range r.Mutations {
		d.report.Mutations = append(d.report.Mutations, finding.NewPolicyMutation(&r.Mutations[i]))
	}
	d.recordWebhooks(r.Webhooks)
	var bug error
	if res := r.Evaluated; res != nil {
		d.report.Warnings = append(d.report.Warnings, res.Warnings...)
		d.report.AuditAnnotations = res.AuditAnnotations
		policies := d.Admission.Policies
		describer := policyrequest.Describer{Set: policies.Set, Validation: policies.Validation, Explain: d.Explain}
		if d.report.Policies, bug = describer.Decisions(ctx, r.Request, res, to.Secrets); !d.Locate {
			for i := range d.report.Policies {
				d.report.Policies[i].File, d.report.Policies[i].Line = "", 0
			}
		}
	}
	out := outcome{bug: bug}
	switch {
	case r.Denied != nil:
		out.verdict, out.denied, out.status = finding.Invalid, to.Resource.Resource, statusOf(r.Denied)
		if r.Denied.Details != nil {
			for _, c := range r.Denied.Details.Causes {
				out.causes = append(out.causes, finding.Cause{Reason: string(c.Type), Field: c.Field, Message: c.Message})
			}
		}
	case r.Undecided != "":
		out.verdict, out.problem = finding.Undecided, r.Undecided
	case bug != nil:
		out.verdict = finding.Valid
	}
	return out
}

// nameOf returns metadata.name. The name in a report can also be a generateName.
func nameOf(object map[string]any) string {
	name, _ := input.Metadata(object)["name"].(string)
	return name
}
