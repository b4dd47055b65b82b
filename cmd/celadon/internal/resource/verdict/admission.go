package verdict

import (
	"context"
	"errors"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// Operations of Admission.
const (
	Create = "create"
	Update = "update"
	Delete = "delete"
	// DeleteCollection deletes an object by a request without a name.
	DeleteCollection = "deletecollection"
	Connect          = "connect"
)

// Admission holds the policies of a run and the requests for which they are evaluated.
type Admission struct {
	Policies *policies.Policies
	User     policy.User
	// Operation is Create, Update, Delete, or DeleteCollection. If it is "", objects with an old version are updates,
	// and the others are creates.
	Operation string
}

// operation returns the operation for all objects, or "" if it depends on the object.
func (a *Admission) operation() string {
	switch {
	case a == nil:
		return ""
	case a.Operation == DeleteCollection:
		return Delete
	}
	return a.Operation
}

// old returns the old version of the object, or nil for a create.
func (d *decision) old() map[string]any {
	operation := d.Admission.operation()
	if operation == Create {
		return nil
	}
	if d.before = d.Olds.find(d.CRDs, d.doc.File, d.report.Identity); d.before != nil {
		if file := d.before.file; file != d.doc.File {
			d.report.OldFile = file
		}
		return d.before.value()
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
	if old := d.Olds.find(d.CRDs, d.doc.File, d.report.Identity); old != nil {
		stored = old.value()
	}
	old, err := d.def.engine.Convert(ctx, stored, d.report.Version())
	var notChecked *engine.NotCheckedError
	switch {
	case errors.As(err, &notChecked):
		return outcome{verdict: finding.Skipped, problem: notChecked.Error()}
	case err != nil:
		return outcome{verdict: finding.Unreadable, problem: err.Error()}
	}
	if out := d.admit(ctx, d.subject(ctx, d.doc.Object, old), nil, old); out.verdict != "" {
		return out
	}
	return outcome{verdict: finding.Valid}
}

// admitWrite evaluates the policies for a write that the CRD accepts. Without a verdict, they accept it as well.
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
	to := d.subject(ctx, d.doc.Object, old)
	if d.Subresource == scaleName {
		to = scales(to)
		object, old = d.scaleOf(object), d.scaleOf(old)
	}
	return d.admit(ctx, to, object, old)
}

// subject returns the subject of an object of the CRD.
func (d *decision) subject(ctx context.Context, objects ...map[string]any) policyrequest.Subject {
	return policyrequest.SubjectOf(ctx, d.def.CRD.ForEngine(), d.def.engine, d.report.APIVersion, objects...)
}

// policyRequest returns the request for an object.
func (d *decision) policyRequest(to *policyrequest.Subject, object, old map[string]any) policy.Request {
	req := to.Request(policy.Operation(strings.ToUpper(d.report.Operation)), d.Admission.User)
	req.Subresource, req.Namespace = d.report.Subresource, d.report.Namespace
	// The name is that of the request: a policy may have changed the object's.
	req.Name, req.Object, req.OldObject = nameOf(d.doc.Object, object, old), object, old
	if d.Admission.Operation == DeleteCollection {
		req.Name = ""
	}
	return req
}

// admit evaluates the policies for a request and records their decisions in the report. Without a verdict, they accept
// it. object is nil for a deletion, and old for a create.
func (d *decision) admit(ctx context.Context, to policyrequest.Subject, object, old map[string]any) outcome {
	req := d.policyRequest(&to, object, old)
	req.SetServerFields(d.now())
	if out := d.matchWebhooks(ctx, req, mutatingWebhooks); out.verdict != "" {
		return out
	}
	res, err := d.Admission.Policies.Set.Evaluate(ctx, req)
	if err != nil {
		return failed(err)
	}
	d.report.Warnings = append(d.report.Warnings, res.Warnings...)
	d.report.AuditAnnotations = res.AuditAnnotations
	policies := d.Admission.Policies
	describer := policyrequest.Describer{Set: policies.Set, Validation: policies.Validation, Explain: d.Explain}
	var bug error
	if d.report.Policies, bug = describer.Decisions(ctx, req, res, to.Secrets); !d.Locate {
		for i := range d.report.Policies {
			d.report.Policies[i].File, d.report.Policies[i].Line = "", 0
		}
	}
	switch {
	case !res.Allowed:
		out := denied(res.Failure, req.Resource.Resource)
		out.bug = bug
		return out
	case len(res.Undecided) > 0:
		return outcome{verdict: finding.Undecided, problem: reasons(res.Undecided), bug: bug}
	case bug != nil:
		return outcome{verdict: finding.Valid, bug: bug}
	}
	return d.matchWebhooks(ctx, req, validatingWebhooks)
}

// denied returns the outcome of a request that a policy denies.
func denied(status *metav1.Status, resource string) outcome {
	out := outcome{verdict: finding.Invalid, denied: resource, status: statusOf(status)}
	if status.Details != nil {
		for _, c := range status.Details.Causes {
			out.causes = append(out.causes, finding.Cause{Reason: string(c.Type), Field: c.Field, Message: c.Message})
		}
	}
	return out
}

func reasons(undecided []policy.Undecided) string {
	texts := make([]string, len(undecided))
	for i, u := range undecided {
		texts[i] = u.String()
	}
	return strings.Join(texts, "; ")
}

// nameOf returns metadata.name of the first object that has one. The name in a report can also be a
// generateName.
func nameOf(objects ...map[string]any) string {
	for _, object := range objects {
		if name, _ := input.Metadata(object)["name"].(string); name != "" {
			return name
		}
	}
	return ""
}
