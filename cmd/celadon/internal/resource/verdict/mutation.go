package verdict

import (
	"context"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/x/builtin"
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
func (def *Definition) mutable(ctx context.Context, rep *finding.Object) subject {
	to := subject{def.subject(ctx, rep), def.mergeables[versionOf(rep)]()}
	webhook := def.CRD.Spec.Conversion != nil && def.CRD.Spec.Conversion.Webhook != nil
	for i := range to.Equivalents {
		e := &to.Equivalents[i]
		m := def.mergeables[e.Kind.Version]()
		e.Schema, e.Default = m.Schema, m.SetDefaults
		if webhook {
			e.Revert = func(object map[string]any) (map[string]any, error) {
				return def.engine.Convert(ctx, object, versionOf(rep))
			}
		}
	}
	return to
}

func versionOf(rep *finding.Object) string {
	_, version, _ := strings.Cut(rep.APIVersion, "/")
	return version
}

// builtinMergeables holds the built-in kinds that mutations needed.
type builtinMergeables struct{ kinds sync.Map } // map[schema.GroupVersionKind]*policyrequest.Mergeable

func (b *builtinMergeables) of(kind *policyrequest.Builtin) *policyrequest.Mergeable {
	if m, ok := b.kinds.Load(kind.GroupVersionKind); ok {
		return m.(*policyrequest.Mergeable)
	}
	var props *apiextensionsv1.JSONSchemaProps
	if catalog, err := builtin.Newest(); err == nil {
		props, _ = catalog.Schema(kind.GroupVersionKind) // nil on an error
	}
	m := policyrequest.NewBuiltinMergeable(props)
	b.kinds.Store(kind.GroupVersionKind, m)
	return m
}

// mutate evaluates the mutating policies for a write and returns the request with the changed object. It
// reports whether the write goes on. Otherwise, rep has the reason.
func (c *Decider) mutate(ctx context.Context, def *Definition, req engine.Request, rep *finding.Object) (_ engine.Request, ok bool) {
	if c.Admission == nil || !c.Admission.Policies.Mutates() {
		return req, true
	}
	received, err := def.engine.Receive(ctx, req)
	if err != nil {
		return req, true // it is rejected before mutation
	}
	object, changed, ok := c.mutated(ctx, def.mutable(ctx, rep), received.Object, received.OldObject, rep)
	if changed || !ok {
		// The server decodes the object only before the mutation.
		rep.Warnings = append(rep.Warnings, received.Warnings...)
	}
	if changed {
		req.Object, req.Raw, req.Merged = object, nil, true
		req.Name = "" // the server compares it with that of the URL before the mutation
	}
	return req, ok
}

// mutated returns an object as the mutating policies change it. It reports whether it is changed, and
// whether the write goes on.
func (c *Decider) mutated(ctx context.Context, to subject, object, old map[string]any, rep *finding.Object) (_ map[string]any, changed, ok bool) {
	req := c.Admission.request(&to.Subject, object, old, rep)
	to.mergeable.Set(&req)
	req.SetReceivedFields(c.now())
	res, err := c.Admission.Policies.Set.Mutate(ctx, req)
	switch {
	case ctx.Err() != nil:
		return nil, false, false
	case err != nil:
		rep.Verdict, rep.Problem, rep.Bug = finding.Unreadable, err.Error(), err
		return nil, false, false
	}
	for _, e := range res.Evaluations {
		rep.Mutations = append(rep.Mutations, finding.NewPolicyMutation(&e))
	}
	switch {
	case !res.Allowed:
		rep.Verdict, rep.Resource = finding.Invalid, to.Resource.Resource
		rep.SetStatus(res.Failure)
		return nil, false, false
	case len(res.Undecided) > 0:
		rep.Verdict, rep.Problem = finding.Undecided, reasons(res.Undecided)
		return nil, false, false
	}
	return res.Object, res.Changed, true
}

func reasons(undecided []policy.Undecided) string {
	texts := make([]string, len(undecided))
	for i, u := range undecided {
		texts[i] = u.String()
	}
	return strings.Join(texts, "; ")
}
