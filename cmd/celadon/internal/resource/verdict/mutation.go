package verdict

import (
	"context"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// newMergeables returns the versions of a CRD, which are built when a policy needs them.
func newMergeables(crd *apiextensionsv1.CustomResourceDefinition) map[string]func() *policyrequest.Mergeable {
	all := map[string]func() *policyrequest.Mergeable{}
	for _, v := range crd.Spec.Versions {
		all[v.Name] = sync.OnceValue(func() *policyrequest.Mergeable { return policyrequest.MergeableOf(crd, v.Name) })
	}
	return all
}

// A subject is a resource with what mutations need.
type subject struct {
	policyrequest.Subject
	mergeable *policyrequest.Mergeable
}

// mutable returns the subject of an object of the CRD for mutations.
func (d *decision) mutable(ctx context.Context) subject {
	version, def := d.report.Version(), d.def
	to := subject{d.subject(ctx), def.mergeables[version]()}
	webhook := def.CRD.Spec.Conversion != nil && def.CRD.Spec.Conversion.Webhook != nil
	for i := range to.Equivalents {
		e := &to.Equivalents[i]
		m := def.mergeables[e.Kind.Version]()
		e.Schema, e.Default = m.Schema, m.SetDefaults
		if webhook {
			e.Revert = func(object map[string]any) (map[string]any, error) {
				return def.engine.Convert(ctx, object, version)
			}
		}
	}
	return to
}

// mutate evaluates the mutating policies for a write and returns the request with the changed object. Without a
// verdict, the write goes on.
func (d *decision) mutate(ctx context.Context, req engine.Request) (engine.Request, outcome) {
	if d.Admission == nil || !d.Admission.Policies.Mutates() && d.Admission.Policies.Set.Webhooks() == 0 {
		return req, outcome{}
	}
	if d.Subresource == scaleName {
		return d.mutateScale(ctx, req)
	}
	received, err := d.def.engine.Receive(ctx, req)
	if err != nil {
		return req, outcome{} // it is rejected before mutation
	}
	object, changed, out := d.mutated(ctx, d.mutable(ctx), received.Object, received.OldObject)
	if changed || out.verdict != "" {
		// The server decodes the object only before the mutation.
		d.report.Warnings = append(d.report.Warnings, received.Warnings...)
	}
	if changed {
		req.Object, req.Raw, req.Merged = object, nil, true
		req.Name = "" // the server compares it with that of the URL before the mutation
	}
	return req, out
}

// mutated returns an object as the mutating policies change it, and whether they change it. Without a verdict, the
// write goes on.
func (d *decision) mutated(
	ctx context.Context, to subject, object, old map[string]any,
) (_ map[string]any, changed bool, _ outcome) {
	req := d.policyRequest(&to.Subject, object, old)
	if !d.Admission.Policies.Mutates() {
		return nil, false, d.matchWebhooks(ctx, req, mutatingWebhooks)
	}
	to.mergeable.Set(&req)
	req.SetReceivedFields(d.now())
	res, err := d.Admission.Policies.Set.Mutate(ctx, req)
	if err != nil {
		return nil, false, failed(err)
	}
	for _, e := range res.Evaluations {
		d.report.Mutations = append(d.report.Mutations, finding.NewPolicyMutation(&e))
	}
	switch {
	case !res.Allowed:
		return nil, false, denied(res.Failure, to.Resource.Resource)
	case len(res.Undecided) > 0:
		return nil, false, outcome{verdict: finding.Undecided, problem: reasons(res.Undecided)}
	}
	req.Object = res.Object
	return res.Object, res.Changed, d.matchWebhooks(ctx, req, mutatingWebhooks)
}
