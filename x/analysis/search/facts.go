package search

import (
	"encoding/json"
	"math"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/types"
)

// facts are the constraints of a schema on a value, including allOf and a random alternative of each
// anyOf and oneOf. They do not include "not".
type facts struct {
	enum                       []any
	text                       textWant
	min, max                   *float64
	exclusiveMin, exclusiveMax bool
	multipleOf                 float64
	integral                   bool // an int-or-string must be an integer
	minItems, maxItems         int  // maxItems or maxProperties < 0: no limit
	minProperties              int
	maxProperties              int
	required                   []string
	requires                   map[string]bool
	excluded                   map[string]bool
	deeper                     []*nested
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
	had := map[string]bool{}
	for _, e := range f.enum {
		had[jsonOf(e)] = true
	}
	var both []any
	for _, e := range v.Enum {
		if len(had) == 0 || had[jsonOf(e.Object)] {
			both = append(both, e.Object)
		}
	}
	f.enum = both
}

func jsonOf(v any) string {
	data, _ := json.Marshal(v) // cannot fail
	return string(data)
}

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

func (f *facts) items() (more []*nested) {
	for _, v := range f.deeper {
		if v.Items != nil {
			more = append(more, v.Items)
		}
	}
	return more
}

func (f *facts) fits(v float64) bool {
	switch {
	case f.min != nil && (v < *f.min || f.exclusiveMin && v == *f.min):
		return false
	case f.max != nil && (v > *f.max || f.exclusiveMax && v == *f.max):
		return false
	}
	return f.multipleOf == 0 || math.Mod(v, f.multipleOf) == 0
}

type volume struct {
	values  int // long strings count more than once
	longest int
	visits  int // the approximate number of values and properties that a validation visits
}

// add adds the sizes of v. d may be nil.
func (n *volume) add(v any, d *types.Decl) {
	n.values++
	n.visits++
	if d == nil {
		d = undeclared
	}
	switch v := v.(type) {
	case map[string]any:
		n.visits += len(d.Fields) / 4
		for name, below := range v {
			if f := d.Fields[name]; f != nil {
				n.add(below, f.Decl)
			} else {
				n.add(below, d.Elem)
			}
		}
	case []any:
		n.longest = max(n.longest, len(v))
		for _, below := range v {
			n.add(below, d.Elem)
		}
	case string:
		n.values += len(v) / 256
		n.visits += len(v) / 64
	}
}

var undeclared = &types.Decl{}

func count(v any) int {
	var n volume
	n.add(v, nil)
	return n.values
}

// largeDefault is the number of values from which a default is charged as work.
const largeDefault = 500

func largeDefaults(s *schema.Structural) (n int) {
	(&schema.Visitor{Structural: func(s *schema.Structural) (changed bool) {
		if size := count(s.Default.Object); size >= largeDefault {
			n += size
		}
		return false
	}}).Visit(s)
	return n
}
