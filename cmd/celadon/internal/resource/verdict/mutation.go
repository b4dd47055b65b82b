package verdict

import (
	"context"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/x/structural"
)

// A mergeable is a version of a CRD as mutating policies need it.
type mergeable struct {
	schema     *policy.MergeSchema
	structural *structuralschema.Structural // nil if the version has no usable schema
}

// newMergeables returns the versions of a CRD, which are built when a policy needs them.
func newMergeables(crd *apiextensionsv1.CustomResourceDefinition) map[string]func() mergeable {
	all := map[string]func() mergeable{}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		all[v.Name] = sync.OnceValue(func() mergeable {
			_, s, err := structural.Of(v.Schema)
			if err != nil {
				s = nil
			}
			return mergeable{policy.NewMergeSchema(s), s}
		})
	}
	return all
}

// setDefaults sets the defaults of an object in place.
func (m *mergeable) setDefaults(object map[string]any) {
	if m.structural != nil {
		structural.Default(object, m.structural)
	}
}

// mutate evaluates the mutating policies for a write and returns the request with the changed object. It
// reports whether the write goes on. Otherwise, rep has the reason.
func (c *Decider) mutate(ctx context.Context, def *Definition, req engine.Request, rep *finding.Object) (_ engine.Request, ok bool) {
	if c.Admission == nil || !c.Admission.Policies.Mutates() {
		return req, true
	}
	prepared, err := def.engine.Prepare(req)
	if err != nil {
		return req, true // it is rejected before mutation
	}
	to := def.subject(ctx, rep, true)
	asked := c.Admission.request(to, prepared.Self(), prepared.Old(), rep)
	asked.Schema, asked.Default = to.schema, to.setDefaults
	res, err := c.Admission.Policies.Set.Mutate(ctx, asked)
	switch {
	case ctx.Err() != nil:
		return req, false
	case err != nil:
		rep.Verdict, rep.Problem, rep.Bug = finding.Unreadable, err.Error(), err
		return req, false
	}
	for _, e := range res.Evaluations {
		rep.Mutations = append(rep.Mutations, finding.NewPolicyMutation(&e))
	}
	switch {
	case !res.Allowed:
		rep.Verdict, rep.Resource = finding.Invalid, to.resource.Resource
		rep.SetStatus(res.Failure)
		return req, false
	case len(res.Undecided) > 0:
		rep.Verdict, rep.Problem = finding.Undecided, reasons(res.Undecided)
		return req, false
	case res.Changed:
		// The server decodes the object only before the mutation.
		rep.Warnings = append(rep.Warnings, prepared.Warnings()...)
		req.Object, req.Raw, req.Merged = res.Object, nil, true
	}
	return req, true
}

func reasons(undecided []policy.Undecided) string {
	texts := make([]string, len(undecided))
	for i, u := range undecided {
		texts[i] = u.String()
	}
	return strings.Join(texts, "; ")
}
