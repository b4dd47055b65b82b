package schema

import (
	"math"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// Bounds are float64 in schemas; integers are compared with the bounds converted to int64.
type number struct {
	typeName, format           string
	multipleOf, max, min       *float64
	exclusiveMax, exclusiveMin bool

	// If a bound is out of the type's range, every number is invalid.
	never                   bool
	intMultiple             int64
	intMax, intMin          int64
	isInt, isInt32, isFloat bool
}

func newNumber(n *node, p *apiextensionsv1.JSONSchemaProps, ranges bool) *number {
	ranged := ranges && len(n.types) == 1 && (n.types[0] == "integer" || n.types[0] == "number" && n.format == "float")
	if !ranged && p.MultipleOf == nil && p.Maximum == nil && p.Minimum == nil {
		return nil
	}
	c := &number{
		multipleOf: p.MultipleOf, max: p.Maximum, min: p.Minimum,
		exclusiveMax: p.ExclusiveMaximum, exclusiveMin: p.ExclusiveMinimum,
	}
	if ranges && len(n.types) == 1 && (n.types[0] == "integer" || n.types[0] == "number") {
		c.typeName, c.format = n.types[0], n.format // other types and formats are ignored
	}
	c.isInt, c.isInt32, c.isFloat = c.typeName == "integer", c.format == "int32", c.format == "float"
	c.intMultiple, c.intMax, c.intMin = c.bound(p.MultipleOf), c.bound(p.Maximum), c.bound(p.Minimum)
	return c
}

func (c *number) bound(f *float64) int64 {
	if f == nil {
		return 0
	}
	if validate.IsValueValidAgainstRange(*f, c.typeName, c.format, "", "") != nil {
		c.never = true
	}
	return int64(*f)
}

func (c *number) validInt(v int64) bool {
	switch {
	case c == nil:
		return true
	case c.never:
		return false
	case c.isInt32 && (v < math.MinInt32 || v > math.MaxInt32):
		return false
	case c.multipleOf != nil && (c.intMultiple <= 0 || v%c.intMultiple != 0):
		return false
	case c.max != nil && (v > c.intMax || c.exclusiveMax && v == c.intMax):
		return false
	}
	return c.min == nil || v > c.intMin || !c.exclusiveMin && v == c.intMin
}

func (c *number) validFloat(v float64) bool {
	switch {
	case c == nil:
		return true
	case c.never:
		return false
	case c.isInt && !c.integral(v):
		return false
	case c.isFloat && !(math.Abs(v) <= math.MaxFloat32) && validate.IsValueValidAgainstRange(v, c.typeName, c.format, "", "") != nil:
		return false
	case c.multipleOf != nil && !multiple(v, *c.multipleOf):
		return false
	case c.max != nil && (v > *c.max || c.exclusiveMax && v == *c.max):
		return false
	}
	return c.min == nil || !(v < *c.min || c.exclusiveMin && v == *c.min)
}

// integral reports whether v, formatted in decimal digits, can be parsed as an integer. The least int64 cannot: the
// shortest digits of its float64 exceed the range.
func (c *number) integral(v float64) bool {
	if v != math.Trunc(v) {
		return false
	}
	if c.isInt32 {
		return v >= math.MinInt32 && v <= math.MaxInt32
	}
	return math.Abs(v) < 1<<63
}

func multiple(v, factor float64) bool {
	switch {
	case factor <= 0:
		return false
	case factor < 1:
		return jsonInteger(1 / factor * v)
	}
	return jsonInteger(v / factor)
}
