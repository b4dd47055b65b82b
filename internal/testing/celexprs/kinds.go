package celexprs

import "strings"

// Kinds returns expressions for the parts of the grammar, and some that are slightly invalid. Deeply
// nested expressions come after the first 300.
func Kinds() []string {
	list := []string{
		"", " ", "a", ".a", "a.b", ".a.b.c", "a . b", "1", "-1", "- 1", "--1", "---1", "- -1", "!a", "!!a", "!!!a", "!-1", "!--1", "-a.b", "-1.b", "-1.b()", "-!a", "!-a",
		"0x10", "-0x10", "0x", "0xg", "0X1", "1u", "1U", "0xfu", "-1u", "1.5", "-1.5", ".5", "-.5", "1.", "1.e3", "1e3", "1e", "1e+3", "1E-3", "1e999", "1.5u", "1.f", "1..2", "007", "9223372036854775807",
		"9223372036854775808", "-9223372036854775808", "--9223372036854775808", "18446744073709551615u", "18446744073709551616u", "0xffffffffffffffff", "0xffffffffffffffffu", "5in x", "5 in[5]", "1 in 2", "1e5in x",
		"true", "false", "null", "in", "a.in", "a.true", "for", "a.for", "for.a", "for{}", "for.b{}", "for.b", ".for{}", "for()", "a.for()", "as {", "if(a)",
		`""`, `''`, `"a"`, `'a'`, `"""a"""`, `'''a'''`, `""""""`, `"""a""b"""`, `"""a""""`, `"""a`, `"a`, `"a\`, `'\''`, `"\a\b\f\n\r\t\v\\\'\"\?\` + "`" + `"`, `"\z"`, `"\x41\X41\u0041\U00000041\101"`, `"\x4"`, `"\ud800"`, `"\U00110000"`, `"\UFFFFFFFF"`, `"\400"`, `"\08"`, `"\x80\200"`,
		`b"a"`, `B'a'`, `b"\x80\200"`, `b"\u0041"`, `b"é"`, `r"\z"`, `R'\'`, `r"a\"b"`, `br"\z"`, `bR'''a\'''`, `rb"a"`, `b`, `r`, `br`, `abr"x"`, "'''a\nb\r\nc\rd'''", "r'''a\nb\r\nc\rd'''", "'a\nb'", "'a\\\nb'", `b"""a"b"""`, `"""\""""""`, `r"""\""""`,
		"a.`b`", "a.`b c`.d", "a.`b`()", "`a`", "a.``", "a.`b", "a.`é`", "a{`b`: 1}", "a.`b`{}", "a?.b:c",
		"a?b:c", "a?b:c?d:e", "a?b?c:d:e", "a?(b?c:d):e", "a ? .b : .c", "a?b", "a:b", "a.?b", "a.?b.c", "a.?b()", "a.?b{}", "a.?", "a[?b]", "a[b]", "a[b", "a[]", "[?a]", "[?a, b, ?c]", "{?a: b}", "{a: b, ?c: d}", "a.b{?c: d}", "a. ?b", "a.?`b`",
		"[]", "[,]", "[a]", "[a,]", "[a,,]", "[,a]", "[a b]", "{}", "{,}", "{a:b}", "{a:b,}", "{a}", "{a:}", "{a:b c:d}", "{a?b:c:d}", "{a?b:c}", "a{}", "a{,}", "a.b{c:d}", "a.b{c:d,}", ".a.b{}", "a . b {c : d}", "a{}.b", "a{}{}", "(a){}", "a(){}", "a[0]{}", "a{b}", "a.b{c: d, e: f}.g(h)",
		"f()", "f(a)", "f(a,)", "f(,)", "f(a b)", ".f(a)", "a.f(b, c)", "a.b.c(d)(e)", "f()()", "(a)", "((a))", "()", "(a", "a)", "(a)(b)",
		"a+b", "a+b*c", "a*b+c", "a-b-c", "a*b/c%d", "a==b", "a==b==c", "a<b", "a<=b>c>=d!=e", "a in b in c", "a+b==c*d", "a=b", "a&b", "a|b", "a&&b", "a&&b&&c", "a&&b&&c&&d", "a&&b&&c&&d&&e", "a||b||c", "a||b&&c||d&&e&&f", "a&&b||c", "a &&", "&& a", "a || || b", "a--1", "a---1", "a - -1", "a -1", "a*-1", "a*-b", "a<-b", "-a-b", "!a==b", "!(a==b)",
		"a // c", "// c\na", "a //", "// a", "a / / b", "a\n\t\r\f+\nb", "a\vb", "a\u00a0b", "é", "'é' + a", "'日本' // 語\n+ b.c('😀', d)\n == 1", "a\x00", "'\x00'", "'\xff'", "'\xff' + a // \xff\n + b", "\xff", "'\ufffd\ufeff'", "\ufeffa", "a // \u2028\nb", "'a\u2028b'",
		"has(a.b)", "has(a)", "has(a.b.c)", "has(a.?b)", "has(a[b])", "has()", "has(a.b, c)", "a.has(b.c)", "x.has(a.b)", "has(a.b).c", "a.all(x, x > 0)", "a.all(x, y, x > y)", "a.all(1, x)", "a.all(x.y, x)", "a.all(x)", "all(x, y)", "a.exists(x, x.all(y, has(y.z)))", "a.exists_one(x, x)", "a.existsOne(x, x)", "a.map(x, x * 2)", "a.map(x, x > 1, x * 2)", "a.filter(x, x)", "a.filter(x, b.map(y, y)).all(z, z)", "a.all(@result, true)", "a.all(__result__, true)", "a.transformList(i, v, i + v)", "a.transformList(i, v, i > v, i)", "a.transformMap(k, v, v)", "a.transformMapEntry(k, v, {v: k})", "a.transformMapEntry(k, v, v)", "cel.bind(x, a.b, x + x)", "cel.bind(x.y, a, b)", "cel.bind(x, cel.bind(y, 1, y), x)", "foo.bind(x, 1, x)", ".cel.bind(x, 1, x)",
		"a.optMap(x, x + 1)", "a.?b.optMap(x, x.c).orValue('')", "a.optFlatMap(x, x.?y)", "a.b({c: [d, {?e: f}]}).optMap(x, M{y: x}.z)", "a.optMap(1, x)", "a.sortBy(x, x.y)", "f(a).sortBy(x, x)", "math.least(1, 2)", "math.least(a, b, 3)", "math.greatest()", "math.greatest([1, 2])", "math.greatest('a')", "m.greatest(1)", "proto.getExt(a, b.c)", "proto.hasExt(a, b.c)", "proto.hasExt(a, b)",
		"[a.all(x, x), [b.exists(y, y)]].all(z, z.map(w, f(w.all(v, v))))", "has(a.b) && has(c.d) || !has(e.f) ? g.all(x, has(x.y)) : {h.all(i, i): j}", "a @ b", "a # b", "a\\b", "a;b", "$a", "a, b", "a b", "a 1", "1 'a'", "'a' 'b'",
	}
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 83, 84, 125, 126, 250, 251} {
		list = append(list, nestings(n)...)
	}
	return list
}

func nestings(n int) []string {
	around := func(open, mid, end string) string { return strings.Repeat(open, n) + mid + strings.Repeat(end, n) }
	return []string{
		around("(", "a", ")"), around("[", "", "]"), around("{a:", "b", "}"), around("{", "a", ":b}"), around("f(", "a", ")"), around("a.f(", "b", ")"), around("a[", "b", "]"), around("M{a:", "b", "}"),
		around("a", "", ".b"), around("", "a", ".b"), around("", "a", "[0]"), around("", "a", ".f()"), around("", "a", "+b"), around("", "a", "*b"), around("", "a", "==b"), around("", "a", "&&b"), around("", "a", "||b"), around("", "a", ".?b"),
		around("a?b:", "c", ""), around("(a?", "b", ":c)"), around("(", "a", "?b:c)"), around("a==(", "b", ")"), around("(", "b", "==a)"), around("a+(", "b", ")"), around("a+b*(", "c", ")"), around("a*(", "b", ")"), around("a==b+c*(", "d", ")"), around("a==b*(", "d", ")"),
		around("!(", "a", ")"), around("-(", "a", ")"), around("!", "a", ""), around("-", "1", ""), around("-", "a", ""), around("a&&(", "b", ")"), around("a||(", "b&&c", ")"), around("a.b.c.", "d", "") + around("", "", ".e()"),
		around("x.", "M", "{}"), around("for.", "M", "{}"), around("[?", "a", "]"), around("has(a.b)&&(", "c", ")"), around("a.all(x,", "x", ")"), around("a.b[c.d(", "e.f", ")]"), around("f(a+b, c*(", "d", "))"), around("a+", "b", "") + around("==a", "", ""),
	}
}
