// Package builtin validates writes of built-in kinds, such as Deployments and Services, as kube-apiserver does: its own
// handlers, defaults, and validation run on a storage that holds nothing but the old object of the request.
//
//	res, err := builtin.Validate(ctx, builtin.Request{Object: deployment})
//	if !res.Allowed {
//		fmt.Println(res.Failure.Message)
//	}
//
// The result is the same as in the linked release of Kubernetes. It does not depend on the state of a cluster, except on
// the objects in Request.Cluster:
//
//   - an object with the name is assumed not to exist, unless it is given as the old object, and the namespace and the
//     objects that it refers to are assumed to exist;
//   - the addresses and ports that a Service requests are assumed to be free, and others are missing in the persisted
//     object;
//   - authorization, quotas, and admission webhooks are assumed to permit the request.
//
// The package is a separate module, because it links most of kube-apiserver.
package builtin
