// Package prove shows that no object exists that a rule rejects, for which a rule fails to
// evaluate, or that a CRD accepts. It also shows that two rules reject the same objects, and that a
// rule of another version rejects no object that a version accepts.
//
//	p, err := prove.New(&crd.Spec.Versions[0], prove.Config{})
//	proof, err := p.Never(rule, prove.Rejected)
//	if proof != nil {
//		fmt.Println("no such object: proved:", proof) // "schema; rules 0 and 2 of spec.x"
//	}
//
// A proof holds for all objects as clients write them (integers without a decimal point) that are
// new or replace an object that the same CRD accepted, and for rules that stay within their cost
// limits. It also holds with ratcheting, because an update can only keep violations that were
// accepted before. There are two exceptions. First, the server treats reordering a list of type map
// as no change, so an update that reorders such a list can violate a rule about the order; proofs
// do not cover such objects. Second, proofs do not cover CRDs with spec.preserveUnknownFields,
// which a version does not contain. If no proof is found, nothing follows: x/analysis/search looks
// for an object.
package prove

// How it works. Each question is translated to a propositional formula about the values that the
// relevant rules may read in an object (place.go). The formula consists of the constraints of the
// schema (bounds.go), the results of the rules (truth.go, value.go, sure.go, compare.go,
// quantifier.go), and the question. It is solved by x/analysis/prove/sat. Rules are three-valued,
// as in CEL: a truth has one literal for true and one for false, and an error is neither.
//
// The formula contains only facts that are certain. An expression that is not modeled becomes a
// free literal, which is shared by equal expressions over the same values. A free literal can
// prevent a proof, but it never leads to a false proof. Strings are the only theory: whether
// patterns and lengths are compatible is determined by internal/regexp/automaton when an example
// depends on it (strings.go).
//
// Each sibling rule and the schema as a whole are assumed by a literal of their own, so a proof can
// list its assumptions (ask.go).
