package cost

import "github.com/celadon-cel/celadon/types"

// Cardinality is the number of times that a schema node can occur in an object: the product of the
// bounds of the lists and maps that contain it. The zero value is the cardinality of the root,
// which occurs once.
type Cardinality struct {
	// Factors holds the lists and maps that contain the node, outermost first. The caller must not
	// modify the slice.
	Factors []Factor

	times     uint64 // the product minus one, so that the zero value is the root
	unbounded bool
}

// A Factor is a list or map that multiplies the cardinality of its elements.
type Factor struct {
	// Path is the path of the list or map.
	Path string
	// Map is set for a map and unset for a list.
	Map bool
	// Max is maxItems or maxProperties. It is valid only if Bounded is set.
	Max     uint64
	Bounded bool
}

// Word returns the name of the schema field that bounds the factor.
func (f Factor) Word() string {
	if f.Map {
		return "maxProperties"
	}
	return "maxItems"
}

// List returns the cardinality of the items of a list at path. maxItems is nil if the list is
// unbounded.
func (c Cardinality) List(path string, maxItems *int64) Cardinality {
	return c.below(Factor{Path: path}, maxItems)
}

// Map returns the cardinality of the values of a map at path. maxProperties is nil if the map is
// unbounded.
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
		c.times = Mul(c.product(), f.Max) - 1 // wraps around for 0; product wraps back
	}
	return c
}

func (c Cardinality) product() uint64 { return c.times + 1 }

// Bounded reports whether every list and map that contains the node has a bound.
func (c Cardinality) Bounded() bool { return !c.unbounded }

// Times returns how often a value declared as d can occur: the product of the bounds, or the number
// of such values that fit into a request if a bound is missing.
func (c Cardinality) Times(d *types.Decl) uint64 {
	if c.unbounded {
		return Occurrences(d.MinSize)
	}
	return c.product()
}
