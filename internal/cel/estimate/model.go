package estimate

import (
	"strconv"
	"sync"

	"github.com/celadon-cel/celadon/internal/minors"
)

// A Model is the estimator of one Kubernetes minor version. It is immutable.
type Model struct {
	has [features]bool
	// functions and overloads hold the estimates of library functions, by name and by overload ID.
	// An overload's estimate takes precedence.
	functions, overloads map[string]price
}

// A price estimates a call. It returns false if the call has the cost of a standard function.
type price func(o *operands) (priced, bool)

type feature uint8

const (
	// entrySizes: the sizes of the entries of lists and maps are known, variables of binds have the
	// size and path of their values, and dyn does not change a size.
	entrySizes feature = iota
	// optionalScalars: an optional of a scalar has size 1.
	optionalScalars
	// nestedSizes: the sizes of entries are known at every level, and operands are measured after all of
	// them have been estimated. Only a value at a path has a path below. A type has size 1. Every
	// selection costs 1, and has() depends on the branches of a conditional.
	nestedSizes
	// loopSizes: each macro has the size of its range. Since entrySizes, only macros that return
	// lists and maps have it.
	loopSizes
	// globalMatches: matches(text, pattern) costs as much as text.matches(pattern).
	globalMatches
	// presenceCost: has(x.f) costs 1 in addition to x.
	presenceCost
	// freeOptionalFields: x.?f costs nothing, not even x, because the checker records no overload.
	freeOptionalFields
	// overflows: the cost of a search in a list without bounds overflows.
	overflows
	// emptyMessages: a message literal has size 0.
	emptyMessages
	features
)

// featureMinors holds the versions that have each feature. A minor version has a feature of cel-go
// because k8s.io/apiserver requires that release; see its go.mod.
var featureMinors = [features]minors.Range{
	entrySizes:         minors.Since(33), // cel-go 0.23.0, checker/cost.go
	optionalScalars:    minors.Since(33), // cel-go 0.23.0, checker/cost.go, isScalar
	nestedSizes:        minors.Since(38), // cel-go 0.33.2, common/cost/estimator.go
	loopSizes:          minors.Since(30), // cel-go 0.17.8, checker/cost.go, costComprehension
	globalMatches:      minors.Since(37), // cel-go 0.29.0, checker/cost.go, functionCost
	presenceCost:       minors.Until(29), // k8s.io/apiserver 0.29, environment/base.go, PresenceTestHasCost
	freeOptionalFields: minors.Until(29), // cel-go 0.17.0, checker/checker.go, checkOptSelect
	overflows:          minors.Until(29), // cel-go 0.17.0, checker/cost.go, multiplyByCostFactor
	emptyMessages:      minors.Until(31), // cel-go 0.20.0, checker/cost.go, ComputedSize
}

const first, last = minors.Oldest, minors.Last

// models holds a model for each version. Versions that estimate alike share theirs.
var models = sync.OnceValue(func() (all [last - first + 1]*Model) {
	known := map[string]*Model{}
	for i := range all {
		minor := first + i
		key := fingerprint(minor)
		if known[key] == nil {
			known[key] = build(minor)
		}
		all[i] = known[key]
	}
	return all
})

// For returns the model of Kubernetes 1.minor.
func For(minor int) *Model { return models()[min(max(minor, first), last)-first] }

// fingerprint returns a key that is equal for minor versions to which the same rows of the tables
// apply.
func fingerprint(minor int) string {
	var rows []byte
	for _, in := range featureMinors {
		rows = strconv.AppendBool(rows, in.Include(minor))
	}
	for _, l := range libraries {
		rows = strconv.AppendBool(rows, l.in.Include(minor))
	}
	return string(rows)
}

func build(minor int) *Model {
	m := &Model{functions: map[string]price{}, overloads: map[string]price{}}
	for f, in := range featureMinors {
		m.has[f] = in.Include(minor)
	}
	for _, l := range libraries {
		if !l.in.Include(minor) {
			continue
		}
		for _, name := range l.functions {
			m.functions[name] = l.price
		}
		for _, id := range l.overloads {
			m.overloads[id] = l.price
		}
	}
	return m
}
