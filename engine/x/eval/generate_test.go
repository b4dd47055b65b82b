package eval

import (
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/celadon-cel/celadon/types"
)

// A generator makes random values of a declaration. They are small, mostly fit the declaration, and
// use the strings and numbers that occur in a rule.
type generator struct {
	rand    *rand.Rand
	texts   []string
	ints    []int64
	wrong   float64 // probability that a value does not fit
	unknown int
}

var (
	literals = regexp.MustCompile(`'([^'\\]*)'|"([^"\\]*)"`)
	samples  = []string{"", "a", "b", "example.com", "10.0.0.1", "10.0.0.0/8", "1Gi", "https://example.com/x", "A-b.c", "héllo", "*.example.com", "v1", "default", "name"}
)

func newGenerator(seed uint64, rule string, wrong float64) *generator {
	g := &generator{rand: rand.New(rand.NewPCG(seed, 1)), texts: samples, ints: []int64{0, 1, 2, 3, 5, 80, 443, 1000}, wrong: wrong}
	for _, m := range literals.FindAllStringSubmatch(rule, -1) {
		text := m[1] + m[2]
		for range 4 {
			g.texts = append(g.texts, text)
		}
	}
	return g
}

func (g *generator) text() string { return g.texts[g.rand.IntN(len(g.texts))] }

func (g *generator) some(d *types.Decl, depth int) any {
	if g.rand.Float64() < g.wrong {
		return []any{nil, "text", int64(3), 1.5, true, []any{"x"}, map[string]any{"k": "v"}}[g.rand.IntN(7)]
	}
	if d.Nullable && g.rand.IntN(6) == 0 {
		return nil
	}
	if v := d.Schema.ValueValidation; v != nil && len(v.Enum) > 0 && g.rand.IntN(10) > 0 {
		return v.Enum[g.rand.IntN(len(v.Enum))].Object
	}
	switch d.Kind {
	case types.Object:
		return g.object(d, depth)
	case types.Map:
		return g.mapOf(d, depth)
	case types.List:
		items := []any{}
		for range g.rand.IntN(4) {
			items = append(items, g.some(d.Elem, depth+1))
		}
		return items
	case types.Hidden:
		return map[string]any{"hidden": g.text()}
	}
	return g.scalar(d)
}

func (g *generator) object(d *types.Decl, depth int) any {
	obj := map[string]any{}
	for _, name := range d.FieldNames() {
		f := d.Fields[name]
		likely := 0.6
		if depth > 3 {
			likely = 0.3
		}
		if f.Required {
			likely = 0.95
		}
		if g.rand.Float64() < likely {
			obj[name] = g.some(f.Decl, depth+1)
		}
	}
	for range g.unknown {
		obj["unknown"+g.text()] = g.text()
	}
	return obj
}

func (g *generator) mapOf(d *types.Decl, depth int) any {
	m := map[string]any{}
	for range g.rand.IntN(4) {
		m[g.text()] = g.some(d.Elem, depth+1)
	}
	return m
}

func (g *generator) scalar(d *types.Decl) any {
	switch d.Kind {
	case types.Bool:
		return g.rand.IntN(2) == 0
	case types.Int:
		return g.ints[g.rand.IntN(len(g.ints))]
	case types.Double:
		if g.rand.IntN(3) == 0 {
			return g.ints[g.rand.IntN(len(g.ints))]
		}
		return g.rand.Float64() * 10
	case types.IntOrString:
		if g.rand.IntN(2) == 0 {
			return g.ints[g.rand.IntN(len(g.ints))]
		}
		return g.text()
	case types.Bytes:
		return "aGVsbG8="
	case types.Duration:
		return []any{"1h", "90m", "5s", "x"}[g.rand.IntN(4)]
	case types.Date:
		return "2024-02-03"
	case types.Timestamp:
		return []any{"2024-02-03T04:05:06Z", "2025-02-03T04:05:06Z", "x"}[g.rand.IntN(3)]
	}
	if g.rand.IntN(20) == 0 {
		return strings.Repeat(g.text(), 40)
	}
	return g.text()
}

// changed returns v, a variant of v, or another value.
func (g *generator) changed(v any, d *types.Decl) any {
	switch g.rand.IntN(4) {
	case 0:
		return v
	case 1:
		return g.some(d, 0)
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = item
			if f := d.Fields[key]; f != nil && g.rand.IntN(4) == 0 {
				out[key] = g.changed(item, f.Decl)
			}
		}
		return out
	}
	return v
}
