package assist_test

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/cel/loops"
)

// A planting is a kind of mistake. plant returns the rules that arise if someone makes it once in a correct rule.
type planting struct {
	name  string
	plant func(r *planted) []string
}

type planted struct {
	text   string
	src    []rune
	tokens []lex.Token
	nodes  []node
}

// node is a part of the rule, with the range of its text.
type node struct {
	e        ast.Expr
	from, to int
	text     string
	fn       string // of a call
	args     []node // the target first
	isTest   bool   // the argument of has()
}

func newPlanted(text string, checked *cel.Ast) *planted {
	r := &planted{text: text, src: []rune(text), tokens: lex.Tokens([]rune(text))}
	source := lex.NewSource(text, checked)
	ast.PostOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if n, ok := r.node(source, e); ok {
			r.nodes = append(r.nodes, n)
		}
	}))
	return r
}

func (r *planted) node(source *lex.Source, e ast.Expr) (n node, ok bool) {
	from, to, ok := source.Range(e)
	if !ok {
		return n, false
	}
	n = node{e: e, from: from, to: to, text: string(r.src[from:to])}
	switch e.Kind() {
	case ast.SelectKind:
		n.isTest = e.AsSelect().IsTestOnly()
	case ast.CallKind:
		n.fn = e.AsCall().FunctionName()
		parts := e.AsCall().Args()
		if e.AsCall().IsMemberFunction() {
			parts = append([]ast.Expr{e.AsCall().Target()}, parts...)
		}
		for _, part := range parts {
			one, ok := r.node(source, part)
			if !ok {
				return n, false
			}
			n.args = append(n.args, one)
		}
	}
	return n, true
}

func (r *planted) with(n node, text string) string {
	return string(r.src[:n.from]) + text + string(r.src[n.to:])
}

// calls returns the rules in which a call of a function is replaced by what rewrite returns, unless that is "".
func calls(fn string, rewrite func(n node) string) func(r *planted) []string {
	return func(r *planted) (all []string) {
		for _, n := range r.nodes {
			if n.fn == fn {
				if text := rewrite(n); text != "" {
					all = append(all, r.with(n, text))
				}
			}
		}
		return all
	}
}

// tests returns the rules in which a has() is replaced by what rewrite returns for its argument.
func tests(rewrite func(operand, field string) string) func(r *planted) []string {
	return func(r *planted) (all []string) {
		for _, n := range r.nodes {
			if !n.isTest || !strings.HasPrefix(n.text, "has(") {
				continue
			}
			inner := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(n.text, "has("), ")"))
			dot := strings.LastIndex(inner, ".")
			if dot < 0 {
				continue
			}
			if text := rewrite(inner[:dot], inner[dot+1:]); text != "" {
				all = append(all, r.with(n, text))
			}
		}
		return all
	}
}

// operator replaces each occurrence of an operator alone, and all occurrences together.
func operator(was, is string) func(r *planted) []string {
	return func(r *planted) (all []string) {
		every, last := "", 0
		count := 0
		for _, t := range r.tokens {
			if t.Kind != lex.Operator || t.Text != was {
				continue
			}
			all = append(all, string(r.src[:t.Start])+is+string(r.src[t.End:]))
			every += string(r.src[last:t.Start]) + is
			last = t.End
			count++
		}
		if count > 1 {
			all = append(all, every+string(r.src[last:]))
		}
		return all
	}
}

// text replaces matches of a pattern outside of strings, one at a time.
func text(pattern, is string) func(r *planted) []string {
	re := regexp.MustCompile(pattern)
	return func(r *planted) (all []string) {
		masked := []byte(r.text)
		if len(masked) != len(r.src) {
			return nil
		}
		for _, t := range r.tokens {
			if t.Kind == lex.String {
				for i := t.Start + 1; i < t.End-1; i++ {
					masked[i] = '_'
				}
			}
		}
		for _, m := range re.FindAllSubmatchIndex(masked, -1) {
			var out []byte
			out = append(out, r.text[:m[0]]...)
			out = re.Expand(out, []byte(is), []byte(r.text), m)
			out = append(out, r.text[m[1]:]...)
			all = append(all, string(out))
		}
		return all
	}
}

// literalsOf replaces string literals by what rewrite returns for their text.
func literalsOf(rewrite func(t lex.Token, value string) string) func(r *planted) []string {
	return func(r *planted) (all []string) {
		for _, t := range r.tokens {
			if t.Kind != lex.String || len(t.Text) < 3 || !strings.HasPrefix(t.Text, t.Text[len(t.Text)-1:]) {
				continue
			}
			if is := rewrite(t, strings.Trim(t.Text, `'"`)); is != "" && is != t.Text {
				all = append(all, string(r.src[:t.Start])+is+string(r.src[t.End:]))
			}
		}
		return all
	}
}

func either(all ...func(r *planted) []string) func(r *planted) []string {
	return func(r *planted) (out []string) {
		for _, one := range all {
			out = append(out, one(r)...)
		}
		return out
	}
}

func (n node) binary() (a, b string) { return n.args[0].text, n.args[1].text }

func (n node) negation() (of node, ok bool) {
	if n.fn != operators.LogicalNot {
		return node{}, false
	}
	return n.args[0], true
}

// implications rewrites !a || b.
func implications(format string) func(r *planted) []string {
	return func(r *planted) (all []string) {
		for _, n := range r.nodes {
			if n.fn != operators.LogicalOr {
				continue
			}
			of, ok := n.args[0].negation()
			if !ok || strings.Contains(n.args[1].text, "||") && !strings.HasPrefix(n.args[1].text, "(") || n.from != 0 || n.to != len(r.src) {
				continue
			}
			condition := of.text
			if strings.HasPrefix(condition, "(") && strings.HasSuffix(condition, ")") && of.fn != "" {
				condition = condition[1 : len(condition)-1]
			}
			all = append(all, r.with(n, fmt.Sprintf(format, condition, n.args[1].text)))
		}
		return all
	}
}

// chained joins a <= x && x <= b, or x >= a && x <= b.
func chained(format string) func(r *planted) []string {
	return func(r *planted) (all []string) {
		for _, n := range r.nodes {
			if n.fn != operators.LogicalAnd || len(n.args) != 2 {
				continue
			}
			lo, hi := n.args[0], n.args[1]
			if hi.fn != operators.LessEquals || hi.args[1].e.Kind() != ast.LiteralKind {
				continue
			}
			x, least := hi.args[0].text, ""
			switch {
			case lo.fn == operators.LessEquals && lo.args[1].text == x:
				least = lo.args[0].text
			case lo.fn == operators.GreaterEquals && lo.args[0].text == x:
				least = lo.args[1].text
			default:
				continue
			}
			all = append(all, r.with(n, strings.NewReplacer("$a", least, "$x", x, "$b", hi.args[1].text).Replace(format)))
		}
		return all
	}
}

// alternatives shortens x == 'a' || x == 'b' to x == 'a' || 'b'.
func alternatives(r *planted) (all []string) {
	for _, n := range r.nodes {
		if n.fn != operators.LogicalOr {
			continue
		}
		a, b := n.args[0], n.args[1]
		if a.fn == operators.Equals && b.fn == operators.Equals && a.args[0].text == b.args[0].text && b.args[1].e.Kind() == ast.LiteralKind {
			all = append(all, r.with(n, a.text+" || "+b.args[1].text))
		}
	}
	for _, n := range r.nodes {
		if n.fn != operators.In || n.args[1].e.Kind() != ast.ListKind || n.args[1].e.AsList().Size() < 2 {
			continue
		}
		items := strings.Split(strings.Trim(n.args[1].text, "[] \n"), ",")
		all = append(all, r.with(n, "("+n.args[0].text+" == "+strings.Join(items, " || ")+")"))
	}
	return all
}

// macroCalls rewrites calls such as list.all(x, body).
func macroCalls(rewrite func(list, name, variable, body string) string) func(r *planted) []string {
	return func(r *planted) (all []string) {
		for _, n := range r.nodes {
			l, ok := loops.Of(n.e)
			if !ok || l.Name == "" || l.Index != "" {
				continue
			}
			m := macroCall.FindStringSubmatch(n.text)
			if m == nil || m[3] != l.Variable {
				continue
			}
			if is := rewrite(m[1], m[2], m[3], m[4]); is != "" {
				all = append(all, r.with(n, is))
			}
		}
		return all
	}
}

var macroCall = regexp.MustCompile(`(?s)^([\w.]+)\.(all|exists|exists_one|filter|map)\(\s*(\w+)\s*,\s*(.+)\)$`)

// misspelt returns a mistake: an expression for each field whose name rewrite changes.
func misspelt(rewrite func(name string) string) func(r *planted) []string {
	return func(r *planted) (all []string) {
		for i, t := range r.tokens {
			if t.Kind == lex.Ident && i > 0 && r.tokens[i-1].Text == "." && len(t.Text) > 3 && (i+1 == len(r.tokens) || r.tokens[i+1].Text != "(") {
				if is := rewrite(t.Text); is != t.Text {
					all = append(all, string(r.src[:t.Start])+is+string(r.src[t.End:]))
				}
			}
		}
		return all
	}
}

// unguarded drops the guard of a && b or !a || b where a is a has().
func unguarded(r *planted) (all []string) {
	for _, n := range r.nodes {
		if n.fn != operators.LogicalAnd && n.fn != operators.LogicalOr {
			continue
		}
		guard := n.args[0]
		if of, ok := guard.negation(); ok && n.fn == operators.LogicalOr {
			guard = of
		} else if n.fn == operators.LogicalOr {
			continue
		}
		if guard.isTest {
			all = append(all, r.with(n, n.args[1].text))
		}
	}
	return all
}

func isString(n node) (string, bool) {
	if n.e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := n.e.AsLiteral().(celtypes.String)
	return string(s), ok
}

var (
	word     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)
	digits   = regexp.MustCompile(`^[0-9]+$`)
	quantity = regexp.MustCompile(`^[0-9]+([KMGT]i|[kMGT])$`)
	lasting  = regexp.MustCompile(`^([0-9]+(h|m|s))+$`)
)

func method(was, is string) func(r *planted) []string { return text(`\.`+was+`\(`, "."+is+"(") }

var plantings = []planting{
	{"= for ==", operator("==", "=")},
	{"=== for ==", operator("==", "===")},
	{"!== for !=", operator("!=", "!==")},
	{"<> for !=", operator("!=", "<>")},
	{"=< for <=", operator("<=", "=<")},
	{"=> for >=", operator(">=", "=>")},
	{"and for &&", operator("&&", "and")},
	{"or for ||", operator("||", "or")},
	{"AND, OR", either(operator("&&", "AND"), operator("||", "OR"))},
	{"& for &&", operator("&&", "&")},
	{"| for ||", operator("||", "|")},
	{"not for !", text(`!(\w|\()`, "not $1")},
	{"eq for ==", either(operator("==", "eq"), operator("==", "is"), operator("==", "equals"))},
	{", for &&", text(` && `, ", ")},
	{"; at the end", func(r *planted) []string { return []string{strings.TrimSpace(r.text) + ";"} }},
	{"return", func(r *planted) []string { return []string{"return " + strings.TrimSpace(r.text)} }},
	{"implies", implications("%s implies %s")},
	{"=> for implication", implications("%s => %s")},
	{"-> for implication", implications("%s -> %s")},
	{"if then", implications("if %s then %s")},
	{"if (a) { b }", implications("if (%s) { %s }")},
	{"if then else", calls(operators.Conditional, func(n node) string {
		return "if " + n.args[0].text + " then " + n.args[1].text + " else " + n.args[2].text
	})},
	{"a if c else b", calls(operators.Conditional, func(n node) string {
		return n.args[1].text + " if " + n.args[0].text + " else " + n.args[2].text
	})},
	{"chained comparison", chained("$a <= $x <= $b")},
	{"between", chained("$x between $a and $b")},
	{"range", chained("$x in $a..$b")},
	{"alternatives", alternatives},
	{"list.contains(x)", calls(operators.In, func(n node) string {
		if a, b := n.binary(); n.args[1].e.Kind() != ast.CallKind {
			return b + ".contains(" + a + ")"
		}
		return ""
	})},
	{"list in x", calls(operators.In, func(n node) string {
		if n.args[1].e.Kind() == ast.ListKind {
			return n.args[1].text + " in " + n.args[0].text
		}
		return ""
	})},
	{"in (a, b)", calls(operators.In, func(n node) string {
		if n.args[1].e.Kind() == ast.ListKind {
			return n.args[0].text + " in (" + strings.Trim(n.args[1].text, "[]") + ")"
		}
		return ""
	})},
	{"not in", calls(operators.LogicalNot, func(n node) string {
		if of, _ := n.negation(); of.fn == operators.In {
			a, b := of.binary()
			return a + " not in " + b
		}
		return ""
	})},
	{"!x in y", calls(operators.LogicalNot, func(n node) string {
		if of, _ := n.negation(); of.fn == operators.In {
			a, b := of.binary()
			return "!" + a + " in " + b
		}
		return ""
	})},
	{"!x == y", calls(operators.NotEquals, func(n node) string { a, b := n.binary(); return "!" + a + " == " + b })},
	{"!a && !b without parentheses", calls(operators.LogicalNot, func(n node) string {
		of, _ := n.negation()
		if (of.fn == operators.LogicalAnd || of.fn == operators.LogicalOr) && strings.HasPrefix(n.text, "!(") && strings.HasSuffix(n.text, ")") {
			return "!" + n.text[2:len(n.text)-1]
		}
		return ""
	})},
	{".length()", either(method("size", "length"), method("size", "len"), method("size", "count"))},
	{".length", text(`\.size\(\)`, ".length")},
	{".size", text(`\.size\(\)`, ".size")},
	{"len(x)", either(text(`\bsize\(`, "len("), text(`\bsize\(`, "length("), text(`\bsize\(`, "count("))},
	{"x.size", text(`\bsize\(([\w.]+)\)`, "$1.size")},
	{"match for matches", either(method("matches", "match"), method("matches", "regexMatch"), method("matches", "test"))},
	{"=~", text(`\.matches\(('[^']*'|"[^"]*")\)`, " =~ $1")},
	{"hasPrefix, hasSuffix", either(method("startsWith", "hasPrefix"), method("endsWith", "hasSuffix"))},
	{"startswith", either(method("startsWith", "startswith"), method("endsWith", "endswith"), method("startsWith", "StartsWith"))},
	{"includes", either(method("contains", "includes"), method("contains", "has"))},
	{"every, forEach", either(method("all", "every"), method("all", "forEach"))},
	{"any, some", either(method("exists", "any"), method("exists", "some"))},
	{"existsOne", method("exists_one", "one")},
	{"toLowerCase", either(method("lowerAscii", "toLowerCase"), method("lowerAscii", "lower"), method("upperAscii", "toUpper"))},
	{"lambda arrow", macroCalls(func(list, name, variable, body string) string {
		return list + "." + name + "(" + variable + " => " + body + ")"
	})},
	{"macro without variable", macroCalls(func(list, name, variable, body string) string { return list + "." + name + "(" + body + ")" })},
	{"global macro", macroCalls(func(list, name, variable, body string) string {
		return name + "(" + list + ", " + variable + ", " + body + ")"
	})},
	{"item's field without variable", macroCalls(func(list, name, variable, body string) string {
		field := regexp.MustCompile(`\b` + variable + `\.`)
		if is := field.ReplaceAllString(body, ""); is != body && !regexp.MustCompile(`\b`+variable+`\b`).MatchString(is) {
			return list + "." + name + "(" + variable + ", " + is + ")"
		}
		return ""
	})},
	{"field of a list", macroCalls(func(list, name, variable, body string) string {
		if m := regexp.MustCompile(`^` + variable + `\.(\w+ (?:==|!=) \S+)$`).FindStringSubmatch(body); m != nil && (name == "all" || name == "exists") {
			return list + "." + m[1]
		}
		return ""
	})},
	{"toString", either(text(`\bstring\(([\w.]+)\)`, "$1.toString()"), text(`\bstring\(`, "str("))},
	{"parseInt", text(`\bint\(`, "parseInt(")},
	{"isEmpty", either(text(`([\w.]+)\.size\(\) == 0`, "$1.isEmpty()"), text(`\bsize\(([\w.]+)\) == 0`, "$1.isEmpty()"),
		text(`\bsize\(([\w.]+)\) > 0`, "!$1.isEmpty()"), text(`([\w.]+)\.size\(\) > 0`, "!$1.isEmpty()"))},
	{"!= null", tests(func(operand, field string) string { return operand + "." + field + " != null" })},
	{"== null", text(`!has\(([\w.]+)\)`, "$1 == null")},
	{"has('x')", tests(func(operand, field string) string { return "has('" + operand + "." + field + "')" })},
	{"x.has(y)", either(tests(func(operand, field string) string { return operand + ".has(" + field + ")" }),
		tests(func(operand, field string) string { return operand + ".has('" + field + "')" }))},
	{"has(x) of a part", tests(func(operand, field string) string { return "has(" + field + ")" })},
	{"exists(x), defined(x)", either(tests(func(operand, field string) string { return "exists(" + operand + "." + field + ")" }),
		tests(func(operand, field string) string { return "defined(" + operand + "." + field + ")" }))},
	{"field as condition", tests(func(operand, field string) string { return operand + "." + field })},
	{"'x' in object", tests(func(operand, field string) string { return "'" + field + "' in " + operand })},
	{"has(map[key])", calls(operators.In, func(n node) string {
		if _, ok := isString(n.args[0]); ok && n.args[1].e.Kind() == ast.SelectKind {
			return "has(" + n.args[1].text + "[" + n.args[0].text + "])"
		}
		return ""
	})},
	{"containsKey", calls(operators.In, func(n node) string {
		if _, ok := isString(n.args[0]); ok && n.args[1].e.Kind() == ast.SelectKind {
			return n.args[1].text + ".containsKey(" + n.args[0].text + ")"
		}
		return ""
	})},
	{"int(has(x))", tests(func(operand, field string) string { return "int(has(" + operand + "." + field + ")) == 1" })},
	{"text without quotes", literalsOf(func(t lex.Token, value string) string {
		if word.MatchString(value) && value != "true" && value != "false" {
			return value
		}
		return ""
	})},
	{"missing quote", literalsOf(func(t lex.Token, value string) string {
		if word.MatchString(value) {
			return t.Text[:len(t.Text)-1]
		}
		return ""
	})},
	{"smart quotes", literalsOf(func(t lex.Token, value string) string { return "‘" + value + "’" })},
	{"backquotes", literalsOf(func(t lex.Token, value string) string { return "`" + value + "`" })},
	{"quoted number", text(`(==|!=|<=|>=|<|>) ([0-9]+)\b`, "$1 '$2'")},
	{"number without quotes", literalsOf(func(t lex.Token, value string) string {
		if digits.MatchString(value) {
			return value
		}
		return ""
	})},
	{"quoted bool", text(`(==|!=) (true|false)\b`, "$1 '$2'")},
	{"True, False", either(text(`\btrue\b`, "True"), text(`\bfalse\b`, "False"))},
	{"2.0 for 2", text(`(==|!=) ([0-9]+)\b`, "$1 $2.0")},
	{"quantity without quotes", literalsOf(func(t lex.Token, value string) string {
		if quantity.MatchString(value) || lasting.MatchString(value) {
			return value
		}
		return ""
	})},
	{"quantity as text", text(`\bquantity\(('[^']*'|"[^"]*")\)`, "$1")},
	{"duration as text", text(`\bduration\(('[^']*'|"[^"]*")\)`, "$1")},
	{"field without duration()", text(`\bduration\((self[\w.]*)\)`, "$1")},
	{"field without quantity()", text(`\bquantity\((self[\w.]*)\)`, "$1")},
	{"quantities compared with <", either(text(`\.isLessThan\((quantity\([^()]*\))\)`, " < $1"), text(`\.isGreaterThan\((quantity\([^()]*\))\)`, " > $1"),
		text(`\.compareTo\((quantity\([^()]*\))\) (<=|>=) 0`, " $2 $1"))},
	{"matches(pattern, x)", calls("matches", func(n node) string {
		if len(n.args) == 2 {
			return "matches(" + n.args[1].text + ", " + n.args[0].text + ")"
		}
		return ""
	})},
	{"startsWith(x, y)", either(calls("startsWith", func(n node) string { return "startsWith(" + n.args[0].text + ", " + n.args[1].text + ")" }),
		calls("endsWith", func(n node) string { return "endsWith(" + n.args[0].text + ", " + n.args[1].text + ")" }))},
	{"missing )", func(r *planted) (all []string) {
		for _, t := range r.tokens {
			if t.Text == ")" {
				all = append(all, string(r.src[:t.Start])+string(r.src[t.End:]))
			}
		}
		return all
	}},
	{"extra )", func(r *planted) (all []string) {
		for _, t := range r.tokens {
			if t.Text == ")" {
				all = append(all, string(r.src[:t.Start])+")"+string(r.src[t.Start:]))
			}
		}
		return all
	}},
	{"without self", text(`\bself\.(\w)`, "$1")},
	{"everything without self", func(r *planted) []string {
		return []string{regexp.MustCompile(`\bself\.`).ReplaceAllString(r.text, "")}
	}},
	{"this, object", func(r *planted) []string {
		self := regexp.MustCompile(`\bself\b`)
		return []string{self.ReplaceAllString(r.text, "this"), self.ReplaceAllString(r.text, "object"), self.ReplaceAllString(r.text, "$$")}
	}},
	{".x for self.x", text(`\bself\.(\w)`, ".$1")},
	{"old for oldSelf", either(text(`\boldSelf\b`, "old"), text(`\boldSelf\b`, "oldself"), text(`\boldSelf\b`, "self.old"))},
	{"a level is missing", text(`\bself\.\w+\.(\w)`, "self.$1")},
	{"a level too many", text(`\bself\.(\w)`, "self.spec.$1")},
	{"two letters swapped", misspelt(func(name string) string { return name[:1] + name[2:3] + name[1:2] + name[3:] })},
	{"a letter is missing", misspelt(func(name string) string { return name[:2] + name[3:] })},
	{"lower case", misspelt(strings.ToLower)},
	{"plural", misspelt(func(name string) string {
		if strings.HasSuffix(name, "s") {
			return strings.TrimSuffix(name, "s")
		}
		return name + "s"
	})},
	{"snake_case", misspelt(func(name string) string {
		return regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllStringFunc(name, func(s string) string { return s[:1] + "_" + strings.ToLower(s[1:]) })
	})},
	{"list.0", text(`\[([0-9])\]`, ".$1")},
	{"x['field']", text(`\bself\.(\w+)\b`, "self['$1']")},
	{"pattern without escapes", func(r *planted) (all []string) {
		for _, t := range r.tokens {
			if t.Kind == lex.String && strings.Contains(t.Text, `\\`) {
				all = append(all, string(r.src[:t.Start])+strings.ReplaceAll(t.Text, `\\`, `\`)+string(r.src[t.End:]))
			} else if t.Kind == lex.String && strings.HasPrefix(t.Text, "r") && strings.Contains(t.Text, `\`) {
				all = append(all, string(r.src[:t.Start])+t.Text[1:]+string(r.src[t.End:]))
			}
		}
		return all
	}},
	{"/pattern/", text(`\.matches\('([^'/]*)'\)`, ".matches(/$1/)")},
	{"template", func(r *planted) []string { return []string{"{{ " + r.text + " }}", "${" + r.text + "}"} }},
	{"?.", text(`\bself\.(\w)`, "self?.$1")},
	{"missing guard", unguarded},
}
