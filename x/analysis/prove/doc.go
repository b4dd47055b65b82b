// Package prove shows that no object exists: none that a rule refuses, none over
// which it fails to evaluate, none that a CRD accepts.
//
//	p, err := prove.New(&crd.Spec.Versions[0], prove.Config{})
//	proof := p.Never(rule, prove.Refused)
//	if proof != nil {
//		fmt.Println("no such object: proved", proof) // "(schema; rules 0 and 2 of spec.x)"
//	}
//
// A proof holds for all objects as clients write them (whole numbers without a
// point), that are new or replace one that the same CRD accepted, and for rules
// that stay within their cost limits. It holds with ratcheting, too: what an update
// leaves alone was accepted before. But to reorder a list of type map is to leave
// it alone, for a server, whatever rules say of the order; of objects that got past
// a rule in this way proofs say nothing. Nor do they where
// spec.preserveUnknownFields is true, of which a version does not know. Where there
// is no proof, nothing is known: x/analysis/search looks for an object.
package prove

// How it works. A question is about one world: the values that the object may
// have at the places (place.go) that the rules at hand speak of. What the schema
// says of them (bounds.go), what each rule gives (truth.go, value.go, sure.go,
// compare.go, quantifier.go) and the question become a formula of propositions
// for x/analysis/prove/sat. Rules are three-valued, as CEL is: a truth has one literal
// for true and one for false, and neither is an error.
//
// Only what is certain goes into the formula. Whatever is not modelled is a free
// proposition, equal for equal texts over equal places: a world too many may hide
// a proof, but never makes a false one. Strings are the only theory: which
// patterns and lengths go together is asked of internal/regexp/automaton where an
// example depends on it (strings.go).
//
// Each sibling rule, and the schema as a whole, is assumed by a literal of its
// own, so that a proof names what it rests on (ask.go).
