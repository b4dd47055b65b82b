// Package compare tells what another form of a CRD does to objects: each change
// of a rule or of the schema with an object that shows what it breaks, with a
// proof that it breaks nothing, or with how far was looked.
//
//	r, err := compare.CRDs(ctx, before, after, compare.Config{})
//	for _, c := range r.Changes {
//		fmt.Println(c.Version, c.Path, c.What, c.Effect)
//	}
//
// It has no I/O.
package compare

// How it works. The schemas of two versions are walked side by side (walk.go) and
// all in which they differ is listed: the CRD's own fields (crd.go), what a schema
// asks of values (facet.go), rules (rules.go). Each change becomes at most two
// goals, one a direction: a rule, in CEL, that says what the one side asks and the
// other does not. A shorter maxLength is the rule size(self) <= 10. That rule is
// put into the side that does not ask for it (hybrid.go): where x/analysis/prove shows
// that it never refuses there, the change takes nothing away; what x/analysis/search
// finds it to refuse is what the change breaks (ask.go). So rules and schema have
// one way to a proof and one to a witness, and each knows of the other.
//
// A witness counts only when the engines of both whole CRDs say so (show.go).
// Where CEL cannot say what is asked (a format, a null, another type), values are
// put where the change is, and the engines decide (try.go).
