package cost

import "github.com/celadon-cel/celadon/types"

// Cardinality is how often a place of a schema can occur in one object: the
// product of the bounds of the lists and maps around it. The zero value is the
// root, which occurs once.
type Cardinality struct {
	// Factors are the lists and maps around the place, outermost first; the
	// slice is shared.
	Factors []Factor

	times     uint64 // the product, less one, so that zero is the root
	unbounded bool
}

// Factor is a list or map that multiplies what is inside it.
type Factor struct {
	// Path is the place of the list or map.
	Path string
	// Map is true for a map, false for a list.
	Map bool
	// Max is maxItems or maxProperties; without it Bounded is false.
	Max     uint64
	Bounded bool
}

// Word is the schema's word that bounds the factor.
func (f Factor) Word() string {
	if f.Map {
		return "maxProperties"
	}
	return "maxItems"
}

// List is the cardinality of the items of a list at path.
func (c Cardinality) List(path string, maxItems *int64) Cardinality {
	return c.below(Factor{Path: path}, maxItems)
}

// Map is the cardinality of the values of a map at path.
func (c Cardinality) Map(path string, maxProperties *int64) Cardinality {
	return c.below(Factor{Path: path, Map: true}, maxProperties)
}

func (c Cardinality) below(f Factor, limit *int64) Cardinality {
	if limit != nil {
		f.Max, f.Bounded = uint64(max(0, *limit)), true
	}
	c.Factors = append(c.Factors[:len(c.Factors):len(c.Factors)], f)
	if !f.Bounded {
		c.unbounded = true
	}
	if !c.unbounded {
		c.times = Mul(c.product(), f.Max) - 1 // wraps for 0, and back again
	}
	return c
}

func (c Cardinality) product() uint64 { return c.times + 1 }

// Bounded is true when every list and map around the place has a bound.
func (c Cardinality) Bounded() bool { return !c.unbounded }

// Times is how often a value declared as d can stand at the place: the product
// of the bounds, or where one is missing what fits into a request.
func (c Cardinality) Times(d *types.Decl) uint64 {
	if c.unbounded {
		return Occurrences(d.MinSize)
	}
	return c.product()
}
