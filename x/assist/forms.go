package assist

import (
	"maps"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/types"
)

// A form is an expression in the notation of another language, and the CEL expression with the same meaning.
//
// The tokens of from are separated by spaces, and alternatives by a bar. null is also None, nil, and so on. A capital
// letter is a part of the expression, which may also be used in to: A and B are operands, N is a name, T a type, M a
// method of strings, O a comparison, and L a list of arguments. The others are any expressions up to the next token of
// the form, or to the end of the brackets around it. X has no branches, and Y has no else.
//
// In to, $ is a new variable, and the functions of capitals change the text of a part.
type form struct{ from, to string }

const (
	wordsForSame    = "immutable|isImmutable|unchanged|isUnchanged|readOnly|readonly"
	wordsForBetween = "between|isBetween|inRange"
)

var (
	conditionForms = []form{
		{"Y if|when X else Z", "X ? Y : Z"},
		{"Y if|when X", "NOT(X) || Y"},
		{"Y unless X", "X || Y"},
		{"if|when X then|: Y else Z", "X ? Y : Z"},
		{"if|when X then|: Y", "NOT(X) || Y"},
		{"unless X then|: Y", "X || Y"},
		{"if|when X { Y } else Z", "X ? Y : Z"},
		{"if|when X { Y }", "NOT(X) || Y"},
		{"unless X { Y }", "X || Y"},
		{"if|when ( X ) Y else Z", "(X) ? Y : Z"},
		{"if|when ( X ) Y", "!(X) || Y"},
		{"A is null", "!has(A)"},
		{"A is not null", "has(A)"},
		{"A is|instanceof T", "type(A) == T"},
		{"X iff|<=>|<->|<==> Y", "SIDE(X) == SIDE(Y)"},
		{"X implies|=>|->|==>", "NOT(X) ||"},
		{"A not|! in B", "!(A in B)"},
		{"A in range ( X , Y )", "X <= A && A < Y"},
		{"A in range ( X )", "0 <= A && A < X"},
		{"A between X and|&& B", "X <= A && A <= B"},
	}
	nullForms  = []form{{"A == null", "!has(A)"}, {"A != null", "has(A)"}}
	shapeForms = []form{
		{"A =~|~=|~ B", "A.matches(B)"},
		{"A !~ B", "!A.matches(B)"},
		{"A M B", "A.M(B)"},
		{"A ??|?: B", "OPT(A).orValue(B)"},
		{"in ( L )", "in [L]"},
		{"in { L }", "in [L]"},
		{"A xor|XOR|^ B", "has(A) != has(B)"},
	}
	templateForms = []form{{"{ { L } }", "L"}, {"$ { L }", "L"}, {"$ ( L )", "L"}}
	lambdaForms   = []form{{"( N =>|->", "(N,"}, {"( N , A =>|->", "(N, A,"}, {"( ( N , A ) ,", "(N, A,"}}
	presenceForms = []form{
		{"has ( ! X )", "!has(X)"},
		{"has ( X && Y )", "has(X) && has(Y)"},
		{"has ( X || Y )", "has(X) || has(Y)"},
		{"has ( X , Y )", "has(X) && has(Y)"},
		{"has ( X O Y )", "has(X) && X O Y"},
	}
	findForms = []form{{"A . find ( X , Y ) == null", "!A.exists(X, Y)"}, {"A . find ( X , Y ) != null", "A.exists(X, Y)"}}
	callForms = []form{
		{"A . isEmpty|empty ( )", "A.size() == 0"},
		{"A . isEmpty|empty", "A.size() == 0"},
		{"A . notEmpty|nonEmpty|isNotEmpty ( )", "A.size() > 0"},
		{"A . notEmpty|nonEmpty|isNotEmpty", "A.size() > 0"},
		{"A . " + wordsForBetween + " ( X , Y )", "X <= A && A <= Y"},
		{wordsForBetween + " ( X , Y , Z )", "Y <= X && X <= Z"},
		{"A . count ( N , Y )", "A.filter(N, Y).size()"},
		{"A . default|getOrDefault|orElse ( X )", "OPT(A).orValue(X)"},
		{"A . none|noneMatch ( N , Y )", "!A.exists(N, Y)"},
		{"A . containsAll ( X )", "X.all($, $ in A)"},
		{"A . containsAny ( X )", "X.exists($, $ in A)"},
		{"A . get ( X ) == null", "!(X in A)"},
		{"A . get ( X ) != null", "X in A"},
		{"A . keys ( )", "A"}, // a macro or in works on the keys of a map
		{"A . isPresent|isSet|isDefined|exists|present ( )", "has(A)"},
		{"A . containsKey|hasKey|has_key|hasOwnProperty|has|includes ( X )", "X in A"},
		{"A . containsKey|hasKey|has_key|hasOwnProperty|has|includes ( X )", "has(A.BARE(X))"},
		{"A . containsKey|hasKey|has_key|hasOwnProperty|has|includes ( X )", "has(X)"},
		{"print|println|assert|require|console|echo|return ( X )", "X"},
		{"A . equals|eq ( X )", "A == X"},
		{"A . " + wordsForSame + " ( )", "A == OLD(A)"},
		{wordsForSame + " ( A )", "A == OLD(A)"},
		{"A . changed|isChanged ( )", "A != OLD(A)"},
		{"changed|isChanged ( A )", "A != OLD(A)"},
	}
)

// rewritten returns the edits that write CEL for the forms in the expression. within can be nil.
func (m *fixer) rewritten(forms []form, within func(first, last int) bool) (all [][]Edit) {
	for i := range m.tokens {
		for _, f := range forms {
			if text, first, last := m.rewrite(f, i); text != "" && (within == nil || within(first, last)) {
				all = append(all, replace(m.tokenSpan(first, last), text))
			}
		}
	}
	return all
}

// rewrite returns the CEL expression for a form whose first token other than a part is token i, and the range of tokens
// that it replaces. It returns "" if the form does not match.
func (m *fixer) rewrite(f form, i int) (text string, first, last int) {
	tokens := strings.Fields(f.from)
	parts := map[string]string{}
	lead := ""
	if isPart(tokens[0]) {
		lead, tokens = tokens[0], tokens[1:]
	} else if m.isName(i) && m.at(i-1) == "." {
		return "", 0, 0
	}
	next := i
	_, end := m.group(i)
	for n, token := range tokens {
		at := m.match(token, next, tokens[n+1:], end)
		if at < next {
			return "", 0, 0
		}
		if isPart(token) {
			parts[token] = m.body(next, at)
		}
		next = at + 1
	}
	if first, last = i, next-1; m.at(next) == "else" {
		return "", 0, 0
	}
	switch lead {
	case "":
	case "A":
		first = m.operandFirst(i - 1)
		parts[lead] = m.part(first, i-1)
	default:
		first, _ = m.group(i)
		parts[lead] = m.body(first, i-1)
	}
	text = m.filled(f.to, parts)
	if text != "" && !isOperand(strings.TrimLeft(text, "!")) && m.binds(first-1, last+1) {
		text = "(" + text + ")"
	}
	return text, first, last
}

func isPart(token string) bool { return len(token) == 1 && token[0] >= 'A' && token[0] <= 'Z' }

// binds reports whether the operator at token before or after binds closer than && does.
func (m *fixer) binds(before, after int) bool {
	return slices.Contains([]string{"!", "-", "+", "*", "/", "%"}, m.at(before)) || m.at(after) == "." ||
		comparisons[m.at(before)] || comparisons[m.at(after)]
}

var classes = map[string][]string{
	"T": typeNames, "O": slices.Sorted(maps.Keys(comparisons)), "M": {"matches", "contains", "startsWith", "endsWith"},
}

func alternatives(token string) []string {
	if all := classes[token]; all != nil || strings.Trim(token, "|") == "" {
		return append(slices.Clone(all), token)
	}
	return strings.Split(token, "|")
}

// match returns the index of the last token that the token of a form matches from token i on, or -1. rest are the next
// tokens of the form, and end is the last token in the brackets around it.
func (m *fixer) match(token string, i int, rest []string, end int) int {
	if i >= len(m.tokens) {
		return -1
	}
	var stops []string
	switch token {
	case "A", "B":
		if lex.Depth(m.tokens[i]) > 0 {
			return m.closing(i)
		}
		return m.operandEnd(i)
	case "N":
		if !m.isName(i) {
			return -1
		}
		return i
	case "X":
		stops = []string{",", "else", "then", "{", ":"}
	case "Y":
		stops = []string{",", "else"}
	case "Z":
		stops = []string{","}
	case "L":
	default:
		_, last := m.runAt(i)
		switch all := alternatives(token); {
		case i <= last && slices.Contains(all, m.part(i, last)):
			return last
		case slices.Contains(all, m.at(i)), renamedOr(m.at(i)) == "null" && token == "null":
			return i
		}
		return -1
	}
	if len(rest) > 0 {
		until := alternatives(rest[0])
		if at := m.next(i-1, slices.Concat(until, stops)...); slices.Contains(until, m.at(at)) {
			return at - 1
		}
		return -1
	}
	if at := m.next(i-1, stops...); at >= 0 && at <= end {
		return -1
	}
	return end
}

var filling = lazy.New(`(?:(NOT|OLD|OPT|BARE|SIDE)\()?\b([A-Z])\b`)

func (m *fixer) filled(to string, parts map[string]string) string {
	var b strings.Builder
	to = strings.ReplaceAll(to, "$", m.variable("e"))
	for to != "" {
		at := filling.FindStringSubmatchIndex(to)
		if at == nil {
			break
		}
		text, end := parts[to[at[4]:at[5]]], at[1]
		if at[2] >= 0 {
			text, end = changed(to[at[2]:at[3]], text), end+1
		}
		if text == "" {
			return ""
		}
		b.WriteString(to[:at[0]] + text)
		to = to[end:]
	}
	return b.String() + to
}

// changed returns a part as a function of a form changes it, or "".
func changed(function, text string) string {
	switch {
	case function == "OLD" && strings.HasPrefix(text+".", types.Self+"."): // its value before the change
		return types.OldSelf + strings.TrimPrefix(text, types.Self)
	case function == "OPT" && strings.Contains(text, "."): // with an optional selection
		dot := strings.LastIndexByte(text, '.') + 1
		return text[:dot] + "?" + strings.TrimPrefix(text[dot:], "?")
	case function == "BARE": // without quotes
		return strings.Trim(text, `'"`)
	case function == "NOT" && isOperand(text):
		return "!" + text
	case function == "NOT":
		return "!(" + text + ")"
	case function == "SIDE" && isOperand(text): // of a comparison
		return text
	case function == "SIDE":
		return "(" + text + ")"
	}
	return ""
}

func isOperand(text string) bool {
	tokens := lex.Tokens([]rune(text))
	return len(tokens) > 0 && lex.Operand(tokens, len(tokens)-1) == 0
}

func (m *fixer) presenceEdits() [][]Edit {
	near := []int{m.token, m.token + 1, m.bracket(m.token)}
	all := m.rewritten(presenceForms, func(first, _ int) bool { return slices.Contains(near, first+1) })
	return all[:min(len(all), 1)]
}
