// Package fakeclient makes controller-runtime's fake client, and client-go's dynamic
// one, answer for custom resources as an API server does.
//
//	crds := celadontest.New(t, "../config/crd")
//	c := fakeclient.NewClientBuilder(t, crds).WithObjects(seed).Build()
//
// What is written through such a client is decoded strictly, pruned, defaulted and
// validated, rules and transition rules included; generation, status subresource,
// resourceVersion, finalizers, dry-run, server-side apply and managedFields are those
// of a server, and the object that was passed in comes back as it is persisted. Kinds
// without a CRD are the fake client's, as ever.
//
// A write whose answer is undecided fails the test.
package fakeclient

// How it works: all writes of kinds with a CRD go to a server (server.go), which does
// what an API server does around the checks that the engine makes: the registry's
// preconditions and deletion, the patches, and by the field manager of apimachinery
// the merges of server-side apply. It keeps objects in client-go's tracker (store.go),
// where controller-runtime's fake client reads, lists and watches them. Writes come
// from interceptors (client.go), because a tracker sees neither options nor
// subresources, nor a dry run; or from reactors (dynamic.go).
