// Package fakeclient makes controller-runtime's fake client and client-go's dynamic fake client
// handle custom resources like an API server.
//
//	crds := celadontest.New(t, "../config/crd")
//	c := fakeclient.NewClientBuilder(t, crds).WithObjects(seed).Build()
//
// Writes through such a client are decoded strictly, pruned, defaulted, and validated, including
// rules and transition rules. Generation, the status subresource, resourceVersion, finalizers, dry
// run, server-side apply, and managedFields behave as in a server, and the object passed to the
// client is updated to its persisted form. Kinds without a CRD are handled by the fake client as
// usual.
//
// A write without a verdict fails the test.
package fakeclient

// How it works: requests for kinds with a CRD are calls to a server (call.go, server.go), which makes the checks on
// the URL and the options, and sends the warnings. The server implements the parts of an API server
// that the engine does not: the registry's preconditions, deletion, patches, and watches (write.go, delete.go,
// patch.go, watch.go). Server-side apply uses apimachinery's field manager. Objects of a kind are stored in one
// version, with all their changes.
//
// controller-runtime's fake client reads, lists, and watches them through a tracker (tracker.go). Its own writes are
// not used, because they differ from a server's: it does not maintain the generation, applies without the schema,
// and stores each version separately. Writes arrive through interceptors instead (client.go), and those of the
// dynamic client through reactors (dynamic.go).
