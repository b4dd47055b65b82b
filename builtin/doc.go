// Package builtin validates writes of built-in kinds, such as Deployments and Services, as kube-apiserver does: its own
// handlers, defaults, and validation run on a storage that holds nothing but the old object of the request.
//
//	res, err := builtin.Validate(ctx, builtin.Request{Object: deployment})
//	if !res.Allowed {
//		fmt.Println(res.Failure.Message)
//	}
//
// The result is the same as in the linked release of Kubernetes. It leaves out what only a cluster knows:
//
//   - whether an object with the name exists, and whether its namespace and the objects that it refers to do;
//   - the addresses and ports of Services: if an object requests them, they are assumed to be free; otherwise,
//     they are missing in the persisted object;
//   - what authorization, quotas, and admission webhooks decide.
//
// The package is a module of its own, because it links most of kube-apiserver.
package builtin
