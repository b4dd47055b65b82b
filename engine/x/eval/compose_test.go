package eval

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// A composer generates expressions of a given type over the declaration in testdata. Their parts
// may fail.
type composer struct {
	rand *rand.Rand
	vars []composedVar
}

type composedVar struct{ name, typ string }

// grammar lists the forms of each type. A capital in braces is a part of that type: {B}ool, {I}nt,
// {D}ouble, {S}tring, {T} a list of strings, {N} a list of ints, {O} an object of items, {L} a list
// of such objects, {M} a map of strings.
var grammar = map[byte][]string{
	'B': {"true", "false", "self.b", "self.c", "has(self.s)", "has(self.missing)", "has(self.nested.a.b)", "has(self.badNested.a.b)",
		"has({O}.inner.deep.x)", "has({O}.value)", "!{B}", "({B} && {B})", "({B} || {B})", "({B} ? {B} : {B})",
		"({I} < {I})", "({I} == {I})", "({I} != {I})", "({D} >= {D})", "({S} == {S})", "({S} != {S})", "({S} < {S})",
		"({S} in ['a', 'b', 'one'])", "({I} in [1, 2, 3])", "({S} in {T})", "({I} in {N})", "({S} in {M})",
		"{S}.startsWith({S})", "{S}.contains({S})", "{S}.endsWith('e')", "{S}.matches('^[a-z]+$')", "({T} == {T})", "({L} != {L})",
		"({O} == {O})", "({M} == {M})", "{T}.all(?S, {B})", "{L}.all(?O, {B})", "{L}.exists(?O, {B})", "{N}.exists(?I, {B})",
		"{T}.exists_one(?S, {B})", "{L}.exists_one(?O, {B})", "{M}.all(?S, {B})", "{M}.exists(?S, {B})",
		"{L}.all(?I, ?O, {B})", "{M}.exists(?S, ?S, {B})", "{T}.existsOne(?I, ?S, {B})", "{O}.?value.hasValue()",
		"{M}[?{S}].hasValue()", "sets.contains({T}, {T})", "{N}.isSorted()", "isQuantity({S})", "self.items.all(?O, {B})",
		"(self.port == {I})", "(type(self.port) == int)", "(self.time < timestamp('2025-01-01T00:00:00Z'))", "(self.badInt == {I})", "(self.bad == {S})"},
	'I': {"0", "1", "7", "self.i", "self.j", "self.big", "self.badInt", "{O}.value", "({I} + {I})", "({I} - {I})", "({I} * {I})", "({I} / {I})",
		"({I} % {I})", "(-{I})", "size({S})", "{T}.size()", "size({L})", "{M}.size()", "({B} ? {I} : {I})", "{N}[{I}]", "{N}[0]",
		"self.nested.a.b.num", "self.counts.a", "self.counts[{S}]", "self.badCounts[{S}]", "self.?nested.?a.?b.?num.orValue({I})",
		"{O}.?value.orValue({I})", "{N}[?{I}].orValue({I})", "int({S})", "{S}.indexOf({S})", "{N}.sum()", "{T}.indexOf({S})", "{L}.map(?O, {I})[0]"},
	'D': {"1.5", "self.d", "self.e", "{O}.weight", "({D} + {D})", "({D} / {D})", "double({I})", "({B} ? {D} : {D})", "self.doubles[{I}]"},
	'S': {"'a'", "'one'", "''", "self.s", "self.t", "self.missing", "self.bad", "{O}.name", "({S} + {S})", "({B} ? {S} : {S})", "{T}[{I}]", "{T}[0]",
		"{M}[{S}]", "{M}.app", "self.labels.app", "string({I})", "{S}.lowerAscii()", "{S}.substring({I}, {I})", "{S}.substring(1)", "self.?s.orValue({S})",
		"self.?missing.orValue({S})", "{T}[?{I}].orValue({S})", "{M}[?{S}].orValue({S})", "{T}.join(',')", "{S}.replace('a', {S})", "self.nested.a.b.c",
		"self.?s.optMap(?S, {S}).orValue({S})", "self.badItems[{I}]", "self.objects[{S}].k", "{S}.trim()"},
	'T': {"['a', 'b']", "[]", "[{S}, {S}]", "self.strings", "self.badItems", "self.badList", "self.set", "self.emptyList", "{O}.tags", "{T}.filter(?S, {B})",
		"{T}.map(?S, {S})", "{T}.map(?S, {B}, {S})", "{L}.map(?O, {S})", "{L}.map(?O, ?B, ?O.name)", "{M}.filter(?S, {B})", "{M}.map(?S, {S})", "({B} ? {T} : {T})",
		"({T} + {T})", "self.?strings.orValue({T})", "{S}.split(',')", "self.nested.a.b.list", "{L}.transformList(?I, ?O, {S})", "{M}.transformList(?S, ?S, {S})", "{T}.distinct()",
		"{L}.map(?O, {T})[0]"},
	'N': {"[1, 2]", "[{I}, {I}]", "self.ints", "self.intSet", "{N}.filter(?I, {B})", "{N}.map(?I, {I})", "{L}.map(?O, {I})", "({B} ? {N} : {N})", "self.lists[{I}]", "{T}.map(?S, {I})", "({N} + {N})"},
	'O': {"self.items[0]", "self.items[{I}]", "{L}[{I}]", "({B} ? {O} : {O})", "{L}.filter(?O, {B})[0]"},
	'L': {"self.items", "{L}.filter(?O, {B})", "({B} ? {L} : {L})", "self.?items.orValue([])", "{L}.map(?O, {O})", "[{O}]", "({L} + {L})"},
	'M': {"self.labels", "self.emptyMap", "{O}.labels", "{'app': {S}, 'k': {S}}", "({B} ? {M} : {M})", "{M}.transformMap(?S, ?S, {S})"},
}

// At depth 0, write uses the simple forms, which come first in the grammar.
func (c *composer) write(typ byte, depth int) string {
	if n := len(c.vars); n > 0 && c.rand.IntN(3) == 0 {
		if v := c.vars[c.rand.IntN(n)]; v.typ[0] == typ {
			return v.name
		}
	}
	forms := grammar[typ]
	if depth <= 0 {
		simple := 0
		for simple < len(forms) && !strings.Contains(forms[simple], "{") {
			simple++
		}
		forms = forms[:max(simple, 1)]
	}
	form := forms[c.rand.IntN(len(forms))]
	outer := len(c.vars)
	var out strings.Builder
	for i := 0; i < len(form); i++ {
		switch {
		case form[i] == '{' && i+2 < len(form) && form[i+2] == '}' && form[i+1] >= 'A' && form[i+1] <= 'Z':
			out.WriteString(c.write(form[i+1], depth-1))
			i += 2
		case form[i] == '?' && i+1 < len(form) && form[i+1] >= 'A' && form[i+1] <= 'Z':
			v := composedVar{fmt.Sprintf("v%d", len(c.vars)), string(form[i+1])}
			c.vars = append(c.vars, v)
			out.WriteString(v.name)
			i++
		default:
			out.WriteByte(form[i])
		}
	}
	c.vars = c.vars[:outer]
	return out.String()
}

// CELADON_COMPOSED sets the number of random expressions.
func TestComposed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	count := 1500
	if n, err := strconv.Atoi(os.Getenv("CELADON_COMPOSED")); err == nil {
		count = n
	}
	decl := declare(t, read(t, "testdata/schema.yaml"))
	env := environment(t, decl, false)
	vals := values(t, "testdata/values.yaml")[:4]
	compared, evaluations := 0, 0
	for seed := range count {
		c := &composer{rand: rand.New(rand.NewPCG(uint64(seed), 2))}
		src := c.write("BBBISTNL"[c.rand.IntN(8)], 1+c.rand.IntN(4))
		if len(src) > 600 {
			continue
		}
		s := compiles(t, env, decl, src)
		if s == nil {
			continue
		}
		compared++
		for _, self := range vals {
			evaluations++
			bind := func() *Activation { return Bind(decl, self) }
			var diff string
			var want Outcome
			limit := int64(50_000)
			for range 10 {
				if diff, want = s.difference(bind, limit); diff == "" {
					break
				}
			}
			if diff == "" && want.Cost > 1 && !strings.Contains(src, "{") {
				limit = c.rand.Int64N(int64(want.Cost))
				diff, _ = s.difference(bind, limit)
			}
			if diff != "" {
				t.Errorf("%s\nlimit %d\n%s", src, limit, diff)
			}
		}
	}
	if compared < count/2 {
		t.Errorf("only %d of %d expressions compile", compared, count)
	}
	t.Logf("%d of %d expressions compile, %d evaluations", compared, count, evaluations)
}
