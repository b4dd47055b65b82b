package assist

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/types"
)

// makers maps methods of values that are made from strings to the functions that make them.
var makers = map[string]string{
	"containsIP": "cidr", "containsCIDR": "cidr", "prefixLength": "cidr", "masked": "cidr",
	"family": "ip", "isLoopback": "ip", "isUnspecified": "ip", "isGlobalUnicast": "ip", "isLinkLocalUnicast": "ip",
	"getScheme": "url", "getHost": "url", "getHostname": "url", "getPort": "url", "getEscapedPath": "url", "getQuery": "url",
}

var makersOf = map[string]string{"cidr": "CIDRs", "ip": "IP addresses", "url": "URLs"}

func (m *fixer) methodEdits(name string, on []operandPart) [][]Edit {
	of, end := on[0], m.closing(m.token)
	if end < 0 {
		return nil
	}
	text := m.textOf(of.Span)
	whole, arguments := Span{of.Start, m.tokens[end].End}, Span{m.tokens[m.token].End, m.tokens[end].Start}
	switch {
	case of.kind == kindOptional && name == "orValue":
		if zero := zeros[kindOf(within(of.typ))]; zero != "" {
			return [][]Edit{replace(arguments, zero)}
		}
	case of.kind == kindOptional:
		return m.convert(of, within(of.typ))
	case name == "contains" && len(on) == 2 && (of.kind == kindList || of.kind == kindMap) && kindOf(within(of.typ)) != kindObject:
		in := m.textOf(on[1].Span) + " in " + text
		return [][]Edit{replace(whole, in), replace(whole, "("+in+")")}
	case name == "find" && of.kind == kindList && len(on) == 3:
		return append(m.rewritten(findForms, nil), m.intoMacro(end+2))
	case len(on) == 1 && slices.Contains(m.known(), name): // text.isCIDR()
		return [][]Edit{m.applied(name, of, whole)}
	case of.kind == kindInt || of.kind == kindDouble || of.kind == kindBool:
		return [][]Edit{wrap(of.Span, "string(", ")")}
	case of.kind == kindString && makers[name] != "":
		return [][]Edit{wrap(of.Span, makers[name]+"(", ")")}
	case of.kind == kindString && len(on) == 2 && on[1].kind == kindList && on[1].e.Kind() == ast.ListKind:
		return [][]Edit{replace(whole, m.ofEach(m.textOf(on[1].Span), ".exists", text+"."+name+"(", ")"))}
	case of.kind == kindCIDR && name == "contains" && len(on) == 2:
		return [][]Edit{{{of.End, on[1].Start, ".containsIP("}}, {{of.End, on[1].Start, ".containsCIDR("}}}
	case name == "matches" && len(on) == 3 && isText(on[1].e) && isText(on[2].e): // flags
		pattern, flags := m.textOf(on[1].Span), strings.Trim(m.textOf(on[2].Span), `'"`)
		quote := strings.IndexAny(pattern, `'"`) + 1
		return [][]Edit{replace(arguments, pattern[:quote]+"(?"+flags+")"+pattern[quote:])}
	case of.kind == kindCIDR && makers[name] == "ip":
		return [][]Edit{wrap(of.Span, "", ".ip()")}
	case len(on) == 2 && of.kind.byMethod():
		if arg := m.made(on[1], of.kind); arg != "" {
			return [][]Edit{replace(on[1].Span, arg)}
		}
	case len(on) == 2:
		return m.convert(on[1], "string")
	}
	return nil
}

// ofEach returns a call of a macro on a list with a new variable. Its body is the variable between before and after.
func (f *fault) ofEach(list, macro, before, after string) string {
	variable := f.variable("e")
	return list + macro + "(" + variable + ", " + before + variable + after + ")"
}

// variable returns name, or name with a number, so that the expression does not have it yet.
func (f *fault) variable(name string) string {
	free := name
	for n := 2; slices.ContainsFunc(f.tokens, func(t lex.Token) bool { return t.Text == free }); n++ {
		free = fmt.Sprint(name, n)
	}
	return free
}

// applied replaces whole by a call of a function of strings, for each item if its argument is a list.
func (m *fixer) applied(name string, of operandPart, whole Span) []Edit {
	if text := m.textOf(of.Span); of.kind != kindList {
		return replace(whole, name+"("+text+")")
	}
	return replace(whole, m.ofEach(m.textOf(of.Span), ".all", name+"(", ")"))
}

func (m *fixer) callEdits(name string, on []operandPart) (all [][]Edit) {
	first, last := on[0], on[len(on)-1]
	whole := Span{m.tokens[max(m.token-1, 0)].Start, last.End + 1}
	rest := ""
	if len(on) > 1 {
		rest = m.textOf(Span{on[1].Start, last.End})
	}
	switch {
	case slices.Contains(ofLists, name), slices.Contains(ofTexts, name):
		all = append(all, replace(whole, m.textOf(first.Span)+"."+name+"("+rest+")"))
	case makers[name] != "" && first.kind == kindString:
		all = append(all, replace(whole, makers[name]+"("+m.textOf(first.Span)+")."+name+"("+rest+")"))
	case first.kind == kindList && len(on) == 1:
		all = append(all, m.applied(name, first, whole))
	}
	if len(m.tokens) > 0 && m.token > 0 { // matches('a') for self.matches('a')
		all = append(all, []Edit{{whole.Start, whole.Start, types.Self + "."}})
	}
	if slices.Contains(ofLists, name) {
		all = append(all, replace(whole, "["+m.textOf(Span{first.Start, last.End})+"]."+name+"()"))
	}
	switch {
	case first.kind == kindBool:
		return append(all, replace(whole, "("+m.textOf(first.Span)+" ? 1 : 0)"))
	case first.e.Kind() == ast.LiteralKind:
		all = append(all, wrap(first.Span, "'", "'"))
	}
	return append(all, wrap(first.Span, "string(", ")"))
}

// foreignCall rewrites a call of a function or method of another language, whose name is token i.
func (m *fixer) foreignCall(i int) [][]Edit {
	name, open := m.at(i), i+1
	isPackage := slices.Contains([]string{"strings", "re", "regexp", "regex"}, name) && m.at(i+1) == "."
	if isPackage {
		open = i + 3
	}
	args, end := m.arguments(open)
	switch {
	case len(args) == 0:
	case isPackage: // strings.HasPrefix(text, 'a'), re.match('a', text)
		if last := args[len(args)-1]; name != "strings" && !strings.HasPrefix(last, "'") && !strings.HasPrefix(last, `"`) { // a pattern
			slices.Reverse(args)
		}
		method := m.at(i + 2)
		method = renamedOr(strings.ToLower(method[:1]) + method[1:])
		return [][]Edit{replace(m.tokenSpan(i, end), args[0]+"."+method+"("+strings.Join(args[1:], ", ")+")")}
	case m.at(i-1) != "." && len(args) > 1 && counted[name] != "":
		for j, arg := range args {
			if !strings.ContainsAny(arg, "!=<>&|(") {
				args[j] = "has(" + arg + ")"
			}
		}
		list := "[" + strings.Join(args, ", ") + "]"
		return [][]Edit{replace(m.tokenSpan(i, end), m.ofEach(list, ".filter", "", "")+".size() "+counted[name])}
	}
	return nil
}

// counted maps functions that CEL lacks, such as oneOf(a, b), to a test of the number of arguments that are true.
var counted = map[string]string{
	"oneOf": "== 1", "exactlyOne": "== 1", "exactlyOneOf": "== 1", "onlyOne": "== 1", "one": "== 1",
	"atMostOne": "<= 1", "atMostOneOf": "<= 1", "atLeastOne": ">= 1", "atLeastOneOf": ">= 1", "anyOf": ">= 1", "noneOf": "== 0",
}

func (m *fixer) arguments(open int) (texts []string, end int) {
	if m.at(open) != "(" {
		return nil, -1
	}
	end = m.closing(open)
	for from := open + 1; from < end; {
		to := m.next(from-1, ",")
		if to < 0 || to > end {
			to = end
		}
		texts = append(texts, m.part(from, to-1))
		from = to + 1
	}
	return texts, end
}

// sizesOf returns the range of tokens that compare the size of list with the size of a copy without duplicates. The
// copy is at the tokens from first to last. not is "!" if the sizes must differ. sizesOf returns first and last if
// the size of the copy is not read, and -1 if it is not compared with the size of list.
func (m *fixer) sizesOf(first, last int, list string) (from, to int, not string) {
	switch {
	case m.part(last+1, last+4) == ".size()":
		last += 4
	case m.at(first-1) == "(" && m.at(first-2) == "size" && m.at(last+1) == ")":
		first, last = first-2, last+1
	default:
		return first, last, ""
	}
	operator, other := m.at(last+1), ""
	if comparisons[operator] {
		from, to = first, m.operandEnd(last+2)
		other = m.part(last+2, to)
	} else {
		operator = m.at(first - 1)
		from, to = m.operandFirst(first-2), last
		other = m.part(from, first-2)
	}
	switch {
	case other != list+".size()" && other != "size("+list+")":
		return -1, -1, ""
	case operator == "==":
		return from, to, ""
	case operator == "!=":
		return from, to, "!"
	}
	return -1, -1, ""
}
