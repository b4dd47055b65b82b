package search

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/x/analysis/work"
)

// A maker generates values for a schema, which may be invalid.
type maker struct {
	rng   *rand.Rand
	texts *texts
	work  *work.Meter
	// density is the probability that an optional field of the root is set. It is lower for deeper fields.
	density float64
	// plain prefers the word "example" to generated strings.
	plain bool
	// left is the number of values that may still be generated for the object.
	left  int
	fresh int
}

const maxValues = 20_000

// maxDepth limits the depth of generated values, because required fields may be deeply nested.
const maxDepth = 40

type nested = schema.NestedValueValidation

// value generates a value for n, or nil if a limit is reached. more holds validations for the value
// from schema nodes above it.
func (m *maker) value(n node, more []*nested, depth int) any {
	m.work.Spend(perValue + n.breadth())
	if m.left--; m.left < 0 || depth > maxDepth || m.work.Empty() {
		return nil
	}
	f := m.facts(n, more)
	if n.hasDefault() && m.rng.IntN(4) > 0 && len(more) == 0 {
		return copied(n.s.Default.Object)
	}
	if len(f.enum) > 0 {
		return copied(f.enum[m.rng.IntN(len(f.enum))])
	}
	switch n.kind() {
	case "object":
		return m.object(n, f, depth)
	case "array":
		return m.list(n, f, depth)
	case "boolean":
		return m.rng.IntN(2) == 0
	case "integer":
		return f.integer(m.rng)
	case "number":
		return f.number(m.rng)
	case "intOrString":
		if f.integral || f.text.match == nil && m.rng.IntN(2) == 0 {
			return f.integer(m.rng)
		}
		return m.text(f)
	case "string":
		return m.text(f)
	}
	return map[string]any{} // any value is allowed
}

const perValue = 60

func (n node) breadth() int {
	if n.s == nil {
		return 0
	}
	b := len(n.s.Properties)
	if v := n.s.ValueValidation; v != nil {
		b += len(v.Enum) + len(v.Required) + len(v.AllOf) + len(v.AnyOf) + len(v.OneOf)
	}
	return b
}

func (m *maker) text(f *facts) any {
	s := m.anyText(f)
	m.left -= len(s) / bytesPerValue
	m.work.Spend(len(s) / 16)
	return s
}

// bytesPerValue makes maxValues also limit the total length of strings in an object.
const bytesPerValue = 256

func (m *maker) anyText(f *facts) string {
	w := f.text
	if m.plain && m.texts.has(w, word) {
		return word
	}
	if w.min == 0 && w.max != 0 && m.rng.IntN(10) > 0 {
		w.min = 1 // empty strings are unusual in real objects
	}
	if s, ok := m.texts.one(w, m.rng); ok {
		return s
	}
	if s, ok := m.texts.one(f.text, m.rng); ok {
		return s
	}
	return word
}

const word = "example"

func (m *maker) object(n node, f *facts, depth int) any {
	out := map[string]any{}
	for _, name := range f.required {
		m.property(out, n, f, name, depth)
	}
	for _, name := range n.names() {
		if _, ok := out[name]; ok || f.excluded[name] || m.left < 0 {
			continue
		}
		density := m.density / float64(1+depth/3)
		if n.field(name).hasDefault() || m.rng.Float64() < density {
			m.property(out, n, f, name, depth)
		}
	}
	if n.isMap() {
		want := f.minProperties
		if m.rng.Float64() < m.density {
			want = max(want, 1)
		}
		for i := 0; len(out) < min(want, maxValues) && i < 2*want && m.left > 0; i++ {
			m.property(out, n, f, mapKey(i), depth)
		}
	}
	for _, name := range n.names() { // minProperties may require more fields
		if len(out) >= f.minProperties {
			break
		}
		if _, ok := out[name]; !ok && !f.excluded[name] {
			m.property(out, n, f, name, depth)
		}
	}
	if n.s != nil && n.s.XEmbeddedResource {
		embedded(out)
	}
	return out
}

// embedded sets the fields that an embedded resource must have.
func embedded(out map[string]any) {
	for name, v := range map[string]any{"apiVersion": "v1", "kind": "ConfigMap"} {
		if s, _ := out[name].(string); s == "" {
			out[name] = v
		}
	}
	if _, ok := out["metadata"].(map[string]any); !ok {
		out["metadata"] = map[string]any{"name": "example"}
	}
}

func mapKey(i int) string {
	if i == 0 {
		return "key"
	}
	return "key" + strconv.Itoa(i)
}

func (m *maker) property(out map[string]any, n node, f *facts, name string, depth int) {
	below := n.field(name)
	if !below.known() {
		out[name] = "example"
		return
	}
	if v := m.value(below, f.below(name), depth+1); v != nil {
		out[name] = v
	}
}

func (m *maker) list(n node, f *facts, depth int) any {
	want := f.minItems
	if want == 0 && f.maxItems != 0 && m.rng.Float64() < m.density {
		want = 1 + m.rng.IntN(2)
	}
	l := itemsOf(n, []any{})
	for i := 0; i < want && m.left > 0; i++ {
		m.another(l, n, f, depth)
	}
	return l.items
}

func equalJSON(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equalJSON)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equalJSON)
	case int64:
		if b, ok := b.(float64); ok {
			return float64(a) == b
		}
	case float64:
		if b, ok := b.(int64); ok {
			return a == float64(b)
		}
	}
	return a == b
}

func (f *facts) integer(rng *rand.Rand) any {
	lo, hi := int64(math.MinInt32), int64(math.MaxInt32)
	if f.min != nil {
		lo = int64(math.Ceil(*f.min))
		if f.exclusiveMin && float64(lo) == *f.min {
			lo++
		}
	}
	if f.max != nil {
		hi = int64(math.Floor(*f.max))
		if f.exclusiveMax && float64(hi) == *f.max {
			hi--
		}
	}
	v := int64(1)
	if rng.IntN(3) == 0 {
		v = []int64{0, 2, 3, 8, 80, 100, 443, 1024}[rng.IntN(8)]
	}
	if v < lo || v > hi {
		v = lo
		if span := hi - lo; span > 0 && rng.IntN(2) == 0 {
			v = lo + rng.Int64N(min(span, 16)+1)
		}
	}
	if f.min == nil && v > hi {
		v = hi
	}
	if step := int64(f.multipleOf); step > 1 && v%step != 0 {
		if v -= v % step; v < lo {
			v += step
		}
	}
	return v
}

func (f *facts) number(rng *rand.Rand) any {
	if f.multipleOf == 0 && f.fits(0.5) && rng.IntN(2) == 0 {
		return 0.5
	}
	return f.integer(rng)
}
