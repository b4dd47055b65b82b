package estimate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/types"
)

const levels = 7

// nest returns the schema of an object with scalars, lists, and maps that contains the next level
// as a field, in a list, and in a map.
func nest(level int) schema.Structural {
	size := int64(level + 2)
	text := schema.Structural{Generic: schema.Generic{Type: "string"}, ValueValidation: &schema.ValueValidation{MaxLength: &size}}
	of := func(kind string) schema.Structural { return schema.Structural{Generic: schema.Generic{Type: kind}} }
	list := func(items schema.Structural, n int64) schema.Structural {
		return schema.Structural{Generic: schema.Generic{Type: "array"}, Items: &items, ValueValidation: &schema.ValueValidation{MaxItems: &n}}
	}
	entries := func(values schema.Structural, n int64) schema.Structural {
		return schema.Structural{Generic: schema.Generic{Type: "object"}, AdditionalProperties: &schema.StructuralOrBool{Structural: &values}, ValueValidation: &schema.ValueValidation{MaxProperties: &n}}
	}
	date := of("string")
	date.ValueValidation = &schema.ValueValidation{Format: "date-time"}
	bytes := of("string")
	bytes.ValueValidation = &schema.ValueValidation{Format: "byte", MaxLength: &size}
	s := of("object")
	s.Properties = map[string]schema.Structural{
		"i": of("integer"), "d": of("number"), "b": of("boolean"), "s": text, "u": of("string"), "t": date, "y": bytes,
		"x": {Extensions: schema.Extensions{XIntOrString: true}}, "l": list(text, size+1), "m": entries(text, size+2), "ll": list(list(text, 3), 5),
	}
	if level < levels {
		next := nest(level + 1)
		s.Properties["n"], s.Properties["o"], s.Properties["e"] = next, list(next, size+3), entries(next, size+4)
	}
	return s
}

func nested() *types.Decl {
	s := nest(0)
	return types.FromSchema(&s, types.Subtree)
}

// maker generates valid expressions for nested.
type maker struct {
	*rand.Rand
	vars []variable
}

// A variable has a kind: i, s, or the level of an object as a digit.
type variable struct{ name, kind string }

func newMaker(seed uint64) *maker {
	return &maker{rand.New(rand.NewPCG(seed, 3)), []variable{{"self", "0"}, {"oldSelf", "0"}}}
}

func (m *maker) pick(words ...string) string { return words[m.IntN(len(words))] }

func (m *maker) object(depth int) (src string, level int) {
	v := m.vars[m.IntN(len(m.vars))]
	for i := 0; v.kind < "0" || v.kind > "9"; i++ {
		v = m.vars[m.IntN(len(m.vars))]
	}
	src, level = v.name, int(v.kind[0]-'0')
	for ; level < levels && m.IntN(5) > 1; level++ {
		switch m.IntN(6) {
		case 0:
			src += ".o[" + m.of("i", depth-2) + "]"
		case 1:
			src += ".e[" + m.of("s", depth-2) + "]"
		default:
			src += ".n"
		}
	}
	return src, level
}

func (m *maker) field(depth int, names ...string) string {
	if m.IntN(4) == 0 {
		for _, i := range m.Perm(len(m.vars)) {
			if v := m.vars[i]; v.kind == names[0] {
				return v.name
			}
		}
	}
	src, _ := m.object(depth)
	return src + "." + m.pick(names...)
}

// of returns an expression of a kind: b, i, s, l (list of strings), or m (map of strings).
func (m *maker) of(kind string, depth int) string {
	b := func() string { return m.of("b", depth-1) }
	i := func() string { return m.of("i", depth-1) }
	s := func() string { return m.of("s", depth-1) }
	l := func() string { return m.of("l", depth-1) }
	if depth > 0 && m.IntN(8) == 0 {
		return fmt.Sprintf("(%s ? %s : %s)", b(), m.of(kind, depth-1), m.of(kind, depth-1))
	}
	switch kind {
	case "b":
		if depth <= 0 {
			return m.pick(m.field(0, "b"), "has("+m.field(0, "n", "s", "l", "m", "i")+")", "true")
		}
		return m.pick(b()+" && "+b(), b()+" || "+b(), "!("+b()+")", i()+" < "+i(), s()+" == "+s(), s()+" < "+s(), l()+" == "+l(), s()+" in "+l(), s()+" in "+m.of("m", depth-1),
			s()+".startsWith("+s()+")", s()+".endsWith("+s()+")", s()+".contains("+s()+")", s()+".matches('^a+$')", "matches("+s()+", 'a.c')", m.field(depth, "x")+" == "+m.pick(i(), s()),
			m.anyObject(depth)+" == "+m.anyObject(depth), "type("+i()+") == int", m.field(depth, "t")+" == timestamp("+s()+")", "dyn("+s()+") == "+i(), m.field(depth, "y")+" == bytes("+s()+")", m.field(depth, "d")+" >= 1.5", "isIP("+s()+")", "ip("+s()+") == ip("+s()+")", "cidr("+s()+").containsIP("+s()+")", "quantity("+s()+").isLessThan(quantity("+s()+"))", "url("+s()+") == url("+s()+")", "format.uuid().validate("+s()+").hasValue()", m.field(depth, "l")+"[?"+i()+"].hasValue()",
			m.quantified(depth), m.quantified(depth), m.quantified(depth), m.quantified(depth), m.quantified(depth))
	case "i":
		if depth <= 0 {
			return m.pick(m.field(0, "i"), "1")
		}
		return m.pick(i()+" + "+i(), i()+" % 2", "size("+l()+")", s()+".size()", m.field(depth, "m")+".size()", "int("+s()+")", m.field(depth, "t")+".getFullYear()", "size("+m.field(depth, "y")+")")
	case "s":
		if depth <= 0 {
			return m.pick(m.field(0, "s", "u"), "'ab'", "'é'")
		}
		return m.pick("("+s()+" + "+s()+")", l()+"["+i()+"]", m.of("m", depth-1)+"["+s()+"]", "string("+i()+")", "string("+m.field(depth, "y")+")", m.field(depth, "s", "u"), m.field(depth, "ll")+"[0][1]", "url("+s()+").getHost()", s()+".find("+s()+")", m.anyObject(depth)+".?s.orValue("+s()+")")
	case "l":
		if depth <= 0 {
			return m.pick(m.field(0, "l"), "[]", "['a', 'bc']")
		}
		m.bind("s", "v")
		inner := m.pick(m.of("s", depth-1), "v"+m.variables())
		cond := m.of("b", depth-1)
		name := m.unbind()
		return m.pick("["+strings.Join([]string{s(), s()}, ", ")+"]", "("+l()+" + "+l()+")", l()+".filter("+name+", "+cond+")", l()+".map("+name+", "+inner+")", m.of("m", 0)+".map("+name+", "+cond+", "+inner+")", m.field(depth, "ll")+"["+i()+"]", s()+".findAll('a')", "url("+s()+").getQuery()["+s()+"]")
	}
	return m.field(depth, "m")
}

func (m *maker) anyObject(depth int) string { src, _ := m.object(depth); return src }

func (m *maker) variables() string { return fmt.Sprint(len(m.vars) - 1) }

func (m *maker) bind(kind, prefix string) {
	m.vars = append(m.vars, variable{prefix + fmt.Sprint(len(m.vars)), kind})
}

func (m *maker) unbind() string {
	last := m.vars[len(m.vars)-1]
	m.vars = m.vars[:len(m.vars)-1]
	return last.name
}

func (m *maker) quantified(depth int) string {
	over, kind := m.of("l", depth-1), "s"
	switch object, level := m.object(depth); {
	case m.IntN(6) == 0:
		over = object + ".m"
	case level < levels && m.IntN(6) == 0:
		over = object + ".e"
	case level < levels && m.IntN(4) > 0:
		over, kind = object+".o", fmt.Sprint(level+1)
	}
	m.bind(kind, "v")
	body := m.of("b", depth-1)
	name := m.unbind()
	return over + "." + m.pick("all", "exists", "exists_one") + "(" + name + ", " + body + ")"
}
