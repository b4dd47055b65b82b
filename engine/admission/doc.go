// Package admission decides admission.k8s.io/v1 requests against a set of CRDs
// that may change while it runs.
//
//	set := admission.NewSet(admission.Config{})
//	err := set.Put(crd)                  // at any time, from any goroutine
//	answer, err := set.Review(ctx, review)
//
// [Set.Review] takes an AdmissionReview and gives one back. Programs that want
// to count and log use [Set.Validate] and [Set.Mutate], which also say which
// CRD decided, what it cost and which rules refused.
//
// There is no HTTP here, no global state and no log; `celadon serve` is this
// package behind HTTPS.
//
// # What the API server sends
//
// A validating webhook gets an object that the API server has already pruned,
// defaulted and validated by the CRD of the cluster, with a uid, a
// creationTimestamp, managedFields and, where it was to be generated, a name. A
// mutating webhook gets it before status is dropped and the name generated.
// Both are decided as if the client had written them, so an object that
// passes through the cluster's CRD unchanged gets exactly the verdict of a
// server that had the set's CRD.
//
// # What is promised
//
// A Set is safe for concurrent use. Requests never wait for a change of the
// set: each is decided by the CRDs that were in force when it came, whole. A
// CRD that is replaced or removed is free to be collected as soon as the last
// request that uses it is done.
package admission

// How it works: a Set is a catalogue of CRDs with a mode (set.go). A request is opened
// (request.go), given to its CRD's engine (decide.go) or to its defaults
// (mutate.go, patch.go), and put into words (response.go).
