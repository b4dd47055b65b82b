package eval

import (
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/minors"
	"github.com/celadon-cel/celadon/types"
)

// How it works: evaluation differs between Kubernetes versions. An expression has the version of
// its roots' declarations. Most differences are decided when the expression is planned. Features such as
// errorsEnd are checked at run time.

type semantics struct {
	minor int
	has   [features]bool
	// prices holds the costs of calls of the Kubernetes libraries' functions, by name. revised holds the
	// functions whose results differ from the linked functions, by name.
	prices  map[string]price
	revised map[string]revisedFunction
	// sizeOf returns the size of a value for the costs of standard functions.
	sizeOf func(ref.Val) uint64
}

type feature uint8

const (
	// affixByReceiver: startsWith and endsWith cost as much as reading the receiver.
	affixByReceiver feature = iota
	// globalMatches: matches(text, pattern) costs as much as text.matches(pattern).
	globalMatches
	// optionalSizes: an optional has the size of its value.
	optionalSizes
	// fixedEquality: values of the libraries' types are equal at a cost of 1.
	fixedEquality
	// negativeDepths: flattening a list with a negative depth reduces the cost.
	negativeDepths
	// eagerAccumulators: the initial value of a macro's accumulator is computed, and charged, before
	// the loop begins.
	eagerAccumulators
	// errorSteps: the first step after a variable is charged even if the variable is an error.
	errorSteps
	// typedRanges: macros with two variables report an error of their range as a wrong type.
	typedRanges
	// lateTypeErrors: && and || report an operand that is not a bool only if no operand is an error.
	lateTypeErrors
	// goOptionals: steps after an optional do not know the schema of its value.
	goOptionals
	// anyOr: or() and orValue() of a value that is not an optional return that value.
	anyOr
	// errorsEnd: an operand that is an error ends a call or a literal, which is then not charged, except
	// for ==, !=, and !. Operands to the right are not evaluated. A failing step after ? is charged,
	// has() of a conditional costs as much as has() of a variable, and failing slices have no items.
	errorsEnd
	// emptyRanges: macros over values without items, such as '', have the result of an empty list.
	emptyRanges
	// guardedItems: a library function does not accept a list or map whose first value is an error.
	guardedItems
	features
)

// featureMinors holds the versions that have each feature. A minor version has a feature of cel-go
// because k8s.io/apiserver requires that release; see its go.mod.
var featureMinors = [features]minors.Range{
	affixByReceiver:   minors.Until(37),                   // cel-go 0.29.0, interpreter/runtimecost.go, costCall
	globalMatches:     minors.Since(37),                   // cel-go 0.29.0, interpreter/runtimecost.go, costCall
	optionalSizes:     minors.Range{Since: 33, Until: 38}, // cel-go 0.23.0, interpreter/runtimecost.go, actualSize
	fixedEquality:     minors.Since(32),                   // k8s.io/apiserver 0.32, library/cost.go, CallCost
	negativeDepths:    minors.Until(37),                   // cel-go 0.29.0, ext/lists.go, trackAllocatingListCall
	eagerAccumulators: minors.Until(32),                   // cel-go 0.22.0, interpreter/interpretable.go, evalFold
	errorSteps:        minors.Until(31),                   // cel-go 0.20.1, interpreter/attributes.go, absoluteAttribute.Resolve
	typedRanges:       minors.Until(33),                   // cel-go 0.23.0, interpreter/interpretable.go, evalFold.Eval
	lateTypeErrors:    minors.Until(29),                   // cel-go 0.17.0, interpreter/interpretable.go, evalAnd and evalOr
	goOptionals:       minors.Until(37),                   // cel-go 0.29.0, interpreter/attributes.go, applyQualifiers
	anyOr:             minors.Until(37),                   // cel-go 0.29.0, cel/library.go, evalOptionalOr and evalOptionalOrValue
	errorsEnd:         minors.Since(38),                   // cel-go 0.33.2, interpreter/interpretable.go, Exec; common/cost/tracker.go
	emptyRanges:       minors.Since(38),                   // cel-go 0.33.2, interpreter/interpretable.go, evalFold.Exec
	guardedItems:      minors.Since(38),                   // cel-go 0.33.2, common/types/types.go, IsAssignableRuntimeType
}

// first and last are the minor versions with semantics of their own. Older versions use the first
// and newer versions use the last.
const first, last = types.Oldest, types.Last

var eachSemantics = minors.Each(newSemantics)

func semanticsOf(v types.Version) *semantics { return eachSemantics(min(max(v.Minor, first), last)) }

func semanticsFor(roots []celenv.Root, v types.Version) *semantics {
	for _, r := range roots {
		if r.Decl != nil {
			return semanticsOf(r.Decl.Version())
		}
	}
	return semanticsOf(v)
}

func newSemantics(minor int) *semantics {
	m := &semantics{minor: minor, prices: map[string]price{}, revised: map[string]revisedFunction{}, sizeOf: flatSize}
	for f, in := range featureMinors {
		m.has[f] = in.Include(minor)
	}
	if m.has[optionalSizes] {
		m.sizeOf = sizeOf
	}
	for _, l := range libraryPrices {
		if !l.in.Include(minor) {
			continue
		}
		for _, name := range l.functions {
			m.prices[name] = l.price
		}
	}
	for _, r := range revisions {
		if r.in.Include(minor) {
			m.revised[r.function] = r
		}
	}
	return m
}
