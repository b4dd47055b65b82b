// Package policyrequest builds the requests that admission policies see, and describes their
// decisions:
//
//	subject := policyrequest.SubjectOf(ctx, crd, e, "example.com/v1", object)
//	req := subject.Request(policy.OperationCreate, policyrequest.User("jane", nil))
//	req.Object, req.Name, req.Namespace = object, "example", "default"
//	res, err := set.Evaluate(ctx, req)
//
// Objects of built-in kinds are first checked by their structure; see [Builtins].
package policyrequest
