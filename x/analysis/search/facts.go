package search

import (
	"math"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// facts are the constraints of a schema on a value, including allOf, anyOf, and oneOf. A random
// alternative is chosen.
type facts struct {
	enum                       []any
	text                       textWant
	min, max                   *float64
	exclusiveMin, exclusiveMax bool
	multipleOf                 float64
	integral                   bool // an int-or-string must be an integer
	minItems, maxItems         int  // maxItems < 0: no limit
	minProperties              int
	maxProperties              int
	required                   []string
	requires                   map[string]bool // the names in required
	excluded                   map[string]bool
	// deeper holds validations that constrain children.
	deeper []*nested
}

func (m *maker) facts(n node, more []*nested) *facts {
	f := &facts{text: anyText(), maxItems: -1, maxProperties: -1, excluded: map[string]bool{}}
	if n.s != nil {
		if n.s.ValueValidation != nil {
			m.collect(f, n.s.ValueValidation)
		}
		for _, name := range n.required() {
			f.require(name)
		}
	}
	for _, also := range more {
		m.add(f, also)
	}
	return f
}

func (f *facts) require(name string) {
	if !f.requires[name] {
		f.required = append(f.required, name)
		if f.requires == nil {
			f.requires = map[string]bool{}
		}
		f.requires[name] = true
	}
	delete(f.excluded, name)
}

func (m *maker) add(f *facts, v *nested) {
	if v.ForbiddenGenerics.Type == "integer" {
		f.integral = true
	}
	m.collect(f, &v.ValueValidation)
	if len(v.Properties) > 0 || v.Items != nil || v.AdditionalProperties != nil {
		f.deeper = append(f.deeper, v)
	}
}

func (m *maker) collect(f *facts, v *schema.ValueValidation) {
	if m.work.Spend(1 + len(v.OneOf)); m.work.Empty() {
		return
	}
	f.numbers(v)
	f.sizes(v)
	m.work.Spend(len(v.Enum))
	f.words(v)
	for _, name := range v.Required {
		f.require(name)
	}
	for i := range v.AllOf {
		m.add(f, &v.AllOf[i])
	}
	if len(v.AnyOf) > 0 {
		m.add(f, &v.AnyOf[m.rng.IntN(len(v.AnyOf))])
	}
	if len(v.OneOf) > 0 {
		chosen := m.rng.IntN(len(v.OneOf))
		for i := range v.OneOf {
			if i != chosen {
				f.exclude(v.OneOf[i].Required)
			}
		}
		m.add(f, &v.OneOf[chosen])
	}
}

func (f *facts) exclude(names []string) {
	for _, name := range names {
		if !f.requires[name] {
			f.excluded[name] = true
		}
	}
}

func (f *facts) numbers(v *schema.ValueValidation) {
	if v.Minimum != nil && (f.min == nil || *v.Minimum >= *f.min) {
		f.min, f.exclusiveMin = v.Minimum, v.ExclusiveMinimum
	}
	if v.Maximum != nil && (f.max == nil || *v.Maximum <= *f.max) {
		f.max, f.exclusiveMax = v.Maximum, v.ExclusiveMaximum
	}
	if v.MultipleOf != nil {
		f.multipleOf = math.Max(f.multipleOf, *v.MultipleOf)
	}
}

func (f *facts) sizes(v *schema.ValueValidation) {
	f.minItems = atLeast(f.minItems, v.MinItems)
	f.maxItems = atMost(f.maxItems, v.MaxItems)
	f.minProperties = atLeast(f.minProperties, v.MinProperties)
	f.maxProperties = atMost(f.maxProperties, v.MaxProperties)
	f.text.min = atLeast(f.text.min, v.MinLength)
	f.text.max = atMost(f.text.max, v.MaxLength)
}

// huge is larger than any size that is generated.
const huge = 1 << 30

func atLeast(have int, bound *int64) int {
	if bound == nil {
		return have
	}
	return max(have, int(min(*bound, huge)))
}

func atMost(have int, bound *int64) int {
	if bound == nil || have >= 0 && int64(have) <= *bound {
		return have
	}
	return int(min(max(*bound, 0), huge))
}

func (f *facts) words(v *schema.ValueValidation) {
	if v.Pattern != "" {
		f.text.match = append(f.text.match, v.Pattern)
	}
	if p := formatPattern(v.Format); p != "" {
		f.text.match = append(f.text.match, p)
	}
	if len(v.Enum) == 0 {
		return
	}
	var both []any
	had := scalars(f.enum)
	for _, e := range v.Enum {
		if len(f.enum) == 0 || had.has(e.Object) {
			both = append(both, e.Object)
		}
	}
	f.enum = both
}

// values is a set of JSON values.
type values struct {
	scalar map[any]bool
	others []any
}

func scalars(all []any) values {
	s := values{scalar: make(map[any]bool, len(all))}
	for _, v := range all {
		switch v := v.(type) {
		case map[string]any, []any:
			s.others = append(s.others, v)
		default:
			s.scalar[asNumber(v)] = true
		}
	}
	return s
}

func (s values) has(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return slices.ContainsFunc(s.others, func(had any) bool { return equalJSON(had, v) })
	}
	return s.scalar[asNumber(v)]
}

// asNumber returns an integer as the equal float, and other scalars unchanged.
func asNumber(v any) any {
	if i, ok := v.(int64); ok {
		return float64(i)
	}
	return v
}

// below returns the validations for a property.
func (f *facts) below(name string) (more []*nested) {
	for _, v := range f.deeper {
		if prop, ok := v.Properties[name]; ok {
			more = append(more, &prop)
		} else if v.AdditionalProperties != nil {
			more = append(more, v.AdditionalProperties)
		}
	}
	return more
}

// items returns the validations for a list's items.
func (f *facts) items() (more []*nested) {
	for _, v := range f.deeper {
		if v.Items != nil {
			more = append(more, v.Items)
		}
	}
	return more
}

// fits reports whether a number is within the bounds and a multiple of multipleOf.
func (f *facts) fits(v float64) bool {
	switch {
	case f.min != nil && (v < *f.min || f.exclusiveMin && v == *f.min):
		return false
	case f.max != nil && (v > *f.max || f.exclusiveMax && v == *f.max):
		return false
	}
	return f.multipleOf == 0 || math.Mod(v, f.multipleOf) == 0
}

// An extent holds the names of the properties of a schema and of the schemas below it, without their
// declarations. A nil extent describes an unknown schema.
type extent struct {
	properties  map[string]*extent
	rest, items *extent
	// defaults holds the number of values in large defaults, by the names of their properties.
	defaults map[string]int
}

// largeDefault is the number of values from which the work for a default counts. In real CRDs, defaults are
// smaller.
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
