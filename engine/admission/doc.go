// Package admission decides admission.k8s.io/v1 requests against a set of CRDs that can change at
// any time.
//
//	set := admission.NewSet(admission.Config{})
//	err := set.Put(crd)                  // at any time, from any goroutine
//	answer, err := set.Review(ctx, review)
//
// [Set.Review] takes an AdmissionReview and returns another with the response. Programs that
// collect metrics or write logs use [Set.Validate] and [Set.Mutate], which also return the CRD that
// decided, the cost, and the rules that rejected the object.
//
// The package has no HTTP server, global state, or log. The command `celadon serve` provides it
// over HTTPS.
//
// # Requests from the API server
//
// A validating webhook receives an object that the API server has already pruned, defaulted, and
// validated against the CRD in the cluster. The object has a uid, a creationTimestamp,
// managedFields, and a name, even if the name is generated. A mutating webhook receives the object
// before status is removed and the name is generated. Both are decided as if the client had sent
// the object in this form. So if the CRD in the cluster leaves the object unchanged, a server with
// the set's CRD would return exactly the same verdict.
//
// # Guarantees
//
// A Set is safe for concurrent use. Requests never wait for a change of the set: each request is
// decided by the CRDs that were active when it arrived. A CRD that is replaced or removed can be
// garbage collected as soon as the last request that uses it is done.
package admission

// How it works: a Set is a catalog of CRDs with a mode (set.go). A request is decoded (request.go).
// Validate passes it to the engine of its CRD (decide.go), and Mutate compares the object with its
// defaulted form (patch.go). The result is converted to a response (response.go).
