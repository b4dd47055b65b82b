// Package requests finds requests that admission policies deny, accept, or change, and requests on
// which a policy fails to evaluate:
//
//	f, err := requests.New(crd, e, "v1", requests.Config{Set: set, Documents: documents})
//	for _, v := range f.Validations() {
//		answer, err := f.Find(ctx, v, requests.Denied)
//	}
//
// The CRD accepts the object of each request, and the policies have evaluated it. A search without a
// result proves nothing.
package requests

// How it works: there are several sources of candidates. If the expression of a validation can be
// written as a rule of the CRD (translate.go), the search for CRD rules (package search) finds an
// object that it rejects. It inverts arithmetic, strings, and loops. Other sources are objects with
// values near the literals of the policy (guess.go), and random objects that the CRD accepts, with
// labels, annotations, and users whose names and values occur in the policy (vary.go). Each candidate
// is evaluated by all policies, and the first with the wanted outcome is reduced to the fields that
// matter (shrink.go).
