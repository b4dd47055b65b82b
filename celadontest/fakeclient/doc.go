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
// A write that cannot be decided fails the test.
package fakeclient

// How it works: all writes of kinds with a CRD go to a server (server.go). It implements what an
// API server does in addition to the engine's checks: the registry's preconditions, deletion, and
// patches. Server-side apply uses apimachinery's field manager. Objects of a kind are stored in one
// version, with their changes (store.go); controller-runtime's fake client reads, lists, and watches
// them through a tracker (tracker.go). Writes arrive through interceptors (client.go), because a tracker
// receives neither options, subresources, nor dry runs; writes of the dynamic client arrive through
// reactors (dynamic.go).
