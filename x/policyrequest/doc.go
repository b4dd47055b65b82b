// Package policyrequest takes writes through admission policies in the order of the API server, and describes the
// decisions of policies:
//
//	subject := policyrequest.NewCustom(crd, e).Subject(ctx, "example.com/v1", object)
//	review := &policyrequest.Review{Set: set, User: policyrequest.User("jane", nil), Operation: policy.OperationCreate}
//	ok, err := review.Validate(ctx, &subject, object, nil)
//	if !ok { … review.Denied, review.Undecided … }
//
// Objects of built-in kinds are validated by a [Server], or without one only by their structure; see [Builtins].
package policyrequest
