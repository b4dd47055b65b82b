package search

import "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

// An extent holds the number of properties of a schema and of those below it, without their
// declarations. A nil extent describes an unknown schema.
type extent struct {
	properties  map[string]*extent
	rest, items *extent
	// defaults holds the number of values in large defaults, by the names of their properties.
	defaults map[string]int
}

// largeDefault is the number of values in a default whose work counts. In real CRDs, defaults are smaller.
const largeDefault = 500

func extentOf(s *schema.Structural) *extent {
	if s == nil {
		return nil
	}
	e := &extent{properties: make(map[string]*extent, len(s.Properties)), items: extentOf(s.Items)}
	for name, prop := range s.Properties {
		e.properties[name] = extentOf(&prop)
		if n := count(prop.Default.Object); n >= largeDefault {
			if e.defaults == nil {
				e.defaults = map[string]int{}
			}
			e.defaults[name] = n
		}
	}
	if s.AdditionalProperties != nil {
		e.rest = extentOf(s.AdditionalProperties.Structural)
	}
	return e
}

// A volume holds the sizes of a value.
type volume struct {
	values  int // in the value; long strings count more than once
	longest int // the length of the longest list
	visits  int // approximately, of values and properties while the value is validated
}

// add adds v. e is the extent of its schema.
func (n *volume) add(v any, e *extent) {
	n.values++
	n.visits++
	switch v := v.(type) {
	case map[string]any:
		if e != nil {
			n.visits += len(e.properties) / 4
			for name, size := range e.defaults {
				if _, ok := v[name]; !ok {
					n.visits += 2 * size // it is copied, and then checked
				}
			}
		}
		for name, below := range v {
			n.add(below, e.property(name))
		}
	case []any:
		n.longest = max(n.longest, len(v))
		var items *extent
		if e != nil {
			items = e.items
		}
		for _, below := range v {
			n.add(below, items)
		}
	case string:
		n.values += len(v) / 256
		n.visits += len(v) / 64
	}
}

// count returns the number of values in v. Long strings count more than once.
func count(v any) int {
	var n volume
	n.add(v, nil)
	return n.values
}

func (e *extent) property(name string) *extent {
	if e == nil {
		return nil
	}
	if prop, ok := e.properties[name]; ok {
		return prop
	}
	return e.rest
}
