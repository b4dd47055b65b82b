package exchange

import (
	"context"
	"strings"
	"time"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// done is set if the mutating policies deny the request or leave it undecided.
func (p *Predictor) mutate(ctx context.Context, c *custom, to *policy.Request, req *engine.Request, out *Prediction) (done bool, err error) {
	received, err := c.engine.Receive(ctx, *req)
	if err != nil {
		return false, nil // it is rejected before mutation
	}
	given := *to
	given.Object, given.OldObject = received.Object, received.OldObject
	policyrequest.MergeableOf(c.crd, to.Kind.Version).Set(&given)
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

// If several policies deny a request, the server names the first of them in the message.
func inAnyOrder(a Answer) (all []Answer) {
	for _, cause := range a.Causes {
		a.Message = strings.TrimSpace(cause)
		all = append(all, a)
	}
	return all
}
