package assist

import (
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
)

// misused maps operators of other languages to hints.
var misused = map[string]string{
	"=":   "= is no operator: compare with ==",
	"===": "=== is no operator: compare with ==",
	"!==": "!== is no operator: compare with !=",
	"<>":  "<> is no operator: compare with !=",
	"=<":  "=< is no operator: want <=",
	"&":   "& is no operator: join conditions with &&",
	"|":   "| is no operator: join conditions with ||",
	"^":   "^ is no operator: of two conditions, a != b is true when one of them is",
	"~":   "~ is no operator: hold a text against a pattern with text.matches('^[a-z]+$')",
	"=~":  "=~ is no operator: hold a text against a pattern with text.matches('^[a-z]+$')",
	"~=":  "~= is no operator: hold a text against a pattern with text.matches('^[a-z]+$')",
	"!~":  "!~ is no operator: hold a text against a pattern with !text.matches('^[a-z]+$')",
	"??":  "?? is no operator: a value for an absent field is self.?name.orValue('none')",
	"?.":  "a field that may be absent is read with .? and not ?.",
	"**":  "** is no operator: CEL has no powers, multiply",
	"++":  "++ is no operator: an expression changes nothing",
	"--":  "-- is no operator: an expression changes nothing",
	"+=":  "+= is no operator: an expression changes nothing",
	"-=":  "-= is no operator: an expression changes nothing",
	"->":  "-> is no operator: read fields with a dot; a macro names its variable, then a comma: list.all(e, e > 0)",
	"=>":  "=> is no operator: want >=; a macro names its variable, then a comma: list.all(e, e > 0)",
	":=":  ":= is no operator: an expression sets no variables",
	"$":   "CEL has no $: write self, or what :cd leads to, as it is",
	";":   "one expression only: join conditions with &&",
	"@":   "CEL has no @",
	"#":   "a comment begins with //",
	"`":   "a text stands in ' or \"",
	"\\":  "outside of a text \\ means nothing: want no line continuation, lines go on by themselves",
}

// words maps words that are operators or keywords in other languages to hints.
var words = map[string]string{
	"and":      "and is no operator: join conditions with &&",
	"or":       "or is no operator: join conditions with ||",
	"xor":      "xor is no operator: of two conditions, a != b is true when one of them is",
	"not":      "not is no operator: negate with !",
	"is":       "is is no operator: compare with ==",
	"eq":       "eq is no operator: compare with ==",
	"equals":   "equals is no operator: compare with ==",
	"ne":       "ne is no operator: compare with !=",
	"gt":       "gt is no operator: compare with >",
	"lt":       "lt is no operator: compare with <",
	"ge":       "ge is no operator: compare with >=",
	"le":       "le is no operator: compare with <=",
	"mod":      "mod is no operator: want %",
	"like":     "like is no operator: want text.startsWith('a'), or text.matches('^a')",
	"matches":  "matches is a method: text.matches('^[a-z]+$')",
	"between":  "between is no operator: want 1 <= x && x <= 5",
	"if":       condition,
	"then":     condition,
	"else":     condition,
	"unless":   condition,
	"when":     condition,
	"where":    "where is no operator: want list.filter(e, e > 0)",
	"for":      loop,
	"foreach":  loop,
	"while":    loop,
	"let":      "an expression sets no variables: write the value where it is used",
	"var":      "an expression sets no variables: write the value where it is used",
	"return":   "an expression is its value: leave return out",
	"lambda":   "a macro names its variable, then a comma: list.all(e, e > 0)",
	"contains": "contains is a method: text.contains('a'); of a list it is 'a' in list",
}

const (
	condition = "CEL has no if: want condition ? value : other; for \"if a then b must hold\", !a || b"
	loop      = "CEL has no loops: want list.all(e, e > 0), .exists, .filter or .map"
)

// syntax returns a hint for an expression that does not parse.
func (f *fault) syntax() string {
	if open := slices.IndexFunc(f.tokens, func(t lex.Token) bool { return t.Open }); open >= 0 && open <= f.token {
		return "the text has no closing quote"
	}
	if text := misused[f.run()]; text != "" {
		return text
	}
	if text := misused[f.at(f.token)]; text != "" {
		return text
	}
	for _, i := range []int{f.token, f.token - 1} { // the parser reports "not a" and "if a" after the first word
		if text := words[f.at(i)]; text != "" && f.isName(i) && f.at(i-1) != "." {
			return text
		}
	}
	if f.at(f.token) == "," {
		return "one expression only: join conditions with &&"
	}
	if f.at(f.token) == "in" && f.at(f.token-1) == "." {
		return "in is an operator: want value in list"
	}
	if i := f.token; f.at(i) == "." && i+1 < len(f.tokens) && f.tokens[i+1].Kind == lex.Number {
		return "an element is read with brackets: want [" + f.at(i+1) + "]"
	}
	if strings.Contains(string(f.src), "?.") && !strings.Contains(string(f.src), ":") {
		return misused["?."]
	}
	return f.unbalanced()
}

// run returns the operator at the error, including adjacent operator characters, as other languages
// would read it.
func (f *fault) run() string {
	first, last := f.runAt(f.token)
	if first > last {
		return ""
	}
	return string(f.src[f.tokens[first].Start:f.tokens[last].End])
}

// runAt returns the range of adjacent operator tokens around token i, or an empty range if token i
// is not part of an operator.
func (f *fault) runAt(i int) (first, last int) {
	isPart := func(i int) bool {
		return i >= 0 && i < len(f.tokens) && f.tokens[i].Kind == lex.Operator && strings.Trim(f.tokens[i].Text, "=<>!&|~?*+-^:.") == ""
	}
	if !isPart(i) {
		return i, i - 1
	}
	first, last = i, i
	for isPart(first-1) && f.tokens[first-1].End == f.tokens[first].Start {
		first--
	}
	for isPart(last+1) && f.tokens[last].End == f.tokens[last+1].Start {
		last++
	}
	return first, last
}

// unbalanced returns a hint for an unclosed bracket or a closing bracket without a counterpart.
func (f *fault) unbalanced() string {
	var open []string
	for _, t := range f.tokens {
		switch lex.Depth(t) {
		case 1:
			open = append(open, t.Text)
		case -1:
			if len(open) == 0 {
				return "this " + t.Text + " closes nothing"
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return "a " + open[len(open)-1] + " is not closed"
	}
	return ""
}
