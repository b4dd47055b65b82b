package cost

import (
	"math"
	"math/bits"

	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// An Estimate is the range of costs of an expression, in CEL cost units, for all values that the
// declaration allows.
type Estimate struct{ Min, Max uint64 }

// Unbounded is the result of Add and Mul on overflow.
const Unbounded = math.MaxUint64

// Mul returns a*b, or math.MaxUint64 on overflow.
func Mul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}

// Add returns a+b, or math.MaxUint64 on overflow.
func Add(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return sum
}

// Occurrences returns how many values of at least minSize bytes fit into a request. This is the
// cardinality of a rule below lists or maps without bounds.
func Occurrences(minSize int64) uint64 {
	return uint64(celconfig.MaxRequestSizeBytes / (minSize + 1)) // one byte for the comma
}
