package exchange

import (
	"context"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/x/structural"
)

// mutate applies the mutating policies to a custom resource. done is set if they decide the answer.
func (p *Predictor) mutate(ctx context.Context, c *custom, to *policy.Request, req *engine.Request, out *Prediction) (done bool, err error) {
	received, err := c.engine.Receive(ctx, *req)
	if err != nil {
		return false, nil // it is rejected before mutation
	}
	given := *to
	given.Object, given.OldObject = received.Object, received.OldObject
	given.Schema, given.Default = c.mergeable(to.Kind.Version)
	given.SetReceivedFields(time.Unix(0, 0))
	res, err := p.set.Mutate(ctx, given)
	switch {
	case err != nil:
		return false, err
	case len(res.Undecided) > 0:
		out.Undecided = res.Undecided[0].String()
		return true, nil
	case !res.Allowed:
		out.Answer = failure(res.Failure)
		out.Warnings = received.Warnings
		out.Denials = inAnyOrder(out.Answer)
		return true, nil
	case res.Changed:
		out.Warnings = received.Warnings
		req.Object, req.Name, req.Merged = res.Object, "", true // the server compares the name before
	}
	return false, nil
}

// inAnyOrder returns the answers to a request that several policies deny: the server names the first of them
// in the message.
func inAnyOrder(a Answer) (all []Answer) {
	for _, cause := range a.Causes {
		a.Message = strings.TrimSpace(cause)
		all = append(all, a)
	}
	return all
}

// mergeable returns what mutations need of a version.
func (c *custom) mergeable(version string) (*policy.MergeSchema, func(map[string]any)) {
	for _, v := range c.crd.Spec.Versions {
		if v.Name != version || v.Schema == nil {
			continue
		}
		if _, s, err := structural.Of(&apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: v.Schema.OpenAPIV3Schema}); err == nil {
			return policy.NewMergeSchema(s), func(object map[string]any) { structural.Default(object, s) }
		}
	}
	return nil, nil
}
