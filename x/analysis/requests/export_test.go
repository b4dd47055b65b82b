package requests

import (
	"context"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// Judge evaluates a write of given objects as the search does. It returns nil if the CRD or the server's code
// rejects it.
func (f *Finder) Judge(
	ctx context.Context, operation policy.Operation, user policy.User, object, old map[string]any,
) (*policyrequest.Review, error) {
	if operation != policy.OperationDelete {
		res, err := f.decider.Validate(ctx, engine.Request{Object: object, OldObject: old})
		if err != nil || !res.Allowed {
			return nil, err
		}
		object = res.Object
	}
	req := f.request(operation, object, old)
	req.User = user
	return f.Review(ctx, req)
}
