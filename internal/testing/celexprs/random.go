package celexprs

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// A maker generates expressions from cel-go's grammar. If wild is set, some of them are slightly invalid.
type maker struct {
	*rand.Rand
	b    strings.Builder
	wild bool
}

// wild holds invalid words.
func (m *maker) sometimes(words, wild []string) string {
	if m.wild && m.IntN(8) == 0 {
		return m.pick(wild...)
	}
	return m.pick(words...)
}

func (m *maker) pick(words ...string) string { return words[m.IntN(len(words))] }

func (m *maker) write(tokens ...string) {
	for _, t := range tokens {
		switch m.IntN(40) {
		case 0:
			m.b.WriteString("\n")
		case 1:
			m.b.WriteString(m.pick(" // note\n", "//\n", " // 語 \"'\n", "\t\f", "\r\n"))
		case 2, 3, 4, 5, 6, 7:
			m.b.WriteString(" ")
		}
		m.b.WriteString(t)
	}
}

func (m *maker) expr(depth int) {
	m.or(depth)
	if m.IntN(12) == 0 && depth > 0 {
		m.write("?")
		m.or(depth - 1)
		m.write(":")
		m.expr(depth - 1)
	}
}

func (m *maker) or(depth int) {
	m.and(depth)
	for depth > 0 && m.IntN(6) == 0 {
		m.write("||")
		m.and(depth - 1)
	}
}

func (m *maker) and(depth int) {
	m.relation(depth)
	for depth > 0 && m.IntN(5) == 0 {
		m.write("&&")
		m.relation(depth - 1)
	}
}

func (m *maker) relation(depth int) {
	m.calc(depth)
	for depth > 0 && m.IntN(5) == 0 {
		m.write(m.pick("<", "<=", ">", ">=", "==", "!=", " in "))
		m.calc(depth - 1)
	}
}

func (m *maker) calc(depth int) {
	m.unary(depth)
	for depth > 0 && m.IntN(5) == 0 {
		m.write(m.pick("+", "-", "*", "/", "%"))
		m.unary(depth - 1)
	}
}

func (m *maker) unary(depth int) {
	if m.IntN(10) == 0 {
		m.write(strings.Repeat(m.pick("!", "-", "- "), 1+m.IntN(3)))
	}
	m.primary(depth)
	for m.IntN(3) == 0 {
		m.suffix(depth)
	}
}

func (m *maker) suffix(depth int) {
	switch m.IntN(9) {
	case 0, 1, 2:
		m.write(".", m.name())
	case 3:
		m.write(".", m.name())
		m.arguments(depth)
	case 4:
		m.write(".?", m.name())
	case 5:
		m.write("[")
		m.mark(8)
		m.expr(depth - 1)
		m.write("]")
	case 6:
		m.write(".", m.sometimes([]string{"`a-b`", "`a.b/c d`", "`1`"}, []string{"``", "`é`"}))
	default:
		m.macro(depth)
	}
}

func (m *maker) mark(of int) {
	if m.IntN(of) == 0 {
		m.write("?")
	}
}

func (m *maker) macro(depth int) {
	one := []string{"all", "exists", "exists_one", "existsOne", "map", "filter", "optMap", "optFlatMap"}
	two := []string{"all", "exists", "transformList", "transformMap", "existsOne"}
	if m.wild {
		one = append(one, "sortBy", "transformMapEntry", "bind", "least", "greatest")
		two = one
	}
	names := m.pick("x", "y", "x, y")
	words := one
	if len(names) > 1 {
		words = two
	}
	m.write(".", m.pick(words...), "(", m.sometimes([]string{names}, []string{"x.y", "1", "@result"}), ",")
	m.expr(depth - 1)
	if m.wild && m.IntN(4) == 0 {
		m.write(",")
		m.expr(depth - 1)
	}
	m.write(")")
}

func (m *maker) name() string {
	return m.sometimes([]string{"a", "b", "self", "oldSelf", "spec", "x", "y", "size", "type", "in_", "_", "Z9", "b", "r", "true1"}, []string{"for", "in", "all", "has", "cel", "as"})
}

func (m *maker) primary(depth int) {
	if depth <= 0 {
		m.leaf()
		return
	}
	switch m.IntN(12) {
	case 0:
		m.write("(")
		m.expr(depth - 1)
		m.write(")")
	case 1:
		m.list(depth, "[", "]", false)
	case 2:
		m.list(depth, "{", "}", true)
	case 3:
		m.write(m.pick("", "", "."), m.name())
		m.arguments(depth)
	case 4:
		m.write("has(")
		m.expr(depth - 1)
		m.write(".", m.name(), ")")
	case 5:
		m.message(depth)
	case 6:
		m.write("cel.bind(x,")
		m.expr(depth - 1)
		m.write(",")
		m.expr(depth - 1)
		m.write(")")
	default:
		m.leaf()
	}
}

func (m *maker) arguments(depth int) {
	m.write("(")
	for i := range m.IntN(3) {
		if i > 0 {
			m.write(",")
		}
		m.expr(depth - 1)
	}
	m.write(")")
}

func (m *maker) list(depth int, open, end string, keys bool) {
	m.write(open)
	for i := range m.IntN(4) {
		if i > 0 {
			m.write(",")
		}
		m.mark(6)
		m.expr(depth - 1)
		if keys {
			m.write(":")
			m.expr(depth - 1)
		}
	}
	if m.IntN(6) == 0 {
		m.write(",")
	}
	m.write(end)
}

func (m *maker) message(depth int) {
	m.write(m.pick("", "", "."), m.name())
	for m.IntN(2) == 0 {
		m.write(".", m.name())
	}
	m.write("{")
	for i := range m.IntN(3) {
		if i > 0 {
			m.write(",")
		}
		m.mark(6)
		m.write(m.pick(m.name(), "`f-g`"), ":")
		m.expr(depth - 1)
	}
	m.write("}")
}

func (m *maker) leaf() {
	switch m.IntN(6) {
	case 0:
		m.write(m.number())
	case 1:
		m.write(m.text())
	case 2:
		m.write(m.pick("true", "false", "null", ".a", ".self"))
	default:
		m.write(m.name())
	}
}

func (m *maker) number() string {
	return m.sometimes([]string{"0", "1", "42", "007", "0x1F", "1u", "0xFu", "3U", "1.5", ".25", "1e3", "1.5E-7", "2e+9", "9223372036854775807", "18446744073709551615u", strconv.Itoa(m.IntN(1000))},
		[]string{"0xffffffffffffffff", "9223372036854775808", "1e400", "1.", "0x"})
}

func (m *maker) text() string {
	q := m.pick(`"`, `'`, `"""`, `'''`)
	prefix := m.sometimes([]string{"", "", "", "", "r", "R", "b", "B", "br", "bR"}, []string{"rb"})
	words := []string{"a", "bc", " ", `\n`, `\\`, `\"`, `\'`, `\x41`, `\XfF`, `\101`, `\377`, "é", "語", "😀", "//", "`", "{"}
	if prefix == "" {
		words = append(words, `\u00e9`, `\U0001F600`)
	}
	if len(q) == 3 {
		words = append(words, "\n", "\r\n", "\r")
	}
	var b strings.Builder
	b.WriteString(prefix)
	b.WriteString(q)
	for range m.IntN(5) {
		b.WriteString(m.sometimes(words, []string{`\ud800`, `\z`, `\400`, `\`, "'", `"`, "\x00", "\xff", "\n"}))
	}
	b.WriteString(q)
	return b.String()
}

// Random returns a valid or slightly invalid expression.
func Random(r *rand.Rand) string {
	m := &maker{Rand: r, wild: r.IntN(6) == 0}
	m.expr(m.IntN(4))
	return m.b.String()
}

var pieces = []string{
	"(", ")", "[", "]", "{", "}", ",", ":", "?", ".", "!", "-", "+", "*", "/", "%", "<", "=", "==", "&&", "||", "&", "in", " in ", "true", "null", "for", "has", "0", "1", ".5", "1u", "0x", "e3", "x", "self", ".?", "[?",
	`"`, `'`, `"""`, `'''`, "r'", `b"`, "\\", "`", "`a`", "//", "\n", "\r", "\t", " ", "@", "#", "é", "語", "😀", "\xff", "\x00", ".all(x, x)", ".optMap(x, x)", "[0]", ".b", ".c()", "{}", "M{a:1}", "{'a': 1}", "(a ? b : c)", "-1", "--", "!!",
}

// Mutated returns text after up to four random changes. Changes can insert parts of other.
func Mutated(r *rand.Rand, text, other string) string {
	for range 1 + r.IntN(4) {
		i := r.IntN(len(text) + 1)
		j := min(len(text), i+r.IntN(6))
		switch r.IntN(6) {
		case 0:
			text = text[:i] + text[j:]
		case 1:
			text = text[:i] + text[i:j] + text[i:]
		case 2:
			text = text[:i]
		case 3:
			from := r.IntN(len(other) + 1)
			text = text[:i] + other[from:min(len(other), from+r.IntN(30))] + text[j:]
		default:
			text = text[:i] + pieces[r.IntN(len(pieces))] + text[r.IntN(2)*(j-i)+i:]
		}
	}
	return text
}
