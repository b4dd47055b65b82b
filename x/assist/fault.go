package assist

import (
	"cmp"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/types"
)

// advise returns a hint for an error message without its position.
func (f *fault) advise(text string) Advice {
	f.code = ""
	advice, code := Advice{}, ""
	begins := func(part string) bool { return strings.HasPrefix(text, part) }
	switch unknown := unknownName.FindStringSubmatch(text); {
	case unknown != nil:
		advice, code = f.unknown(unknown[1]), UnknownName
		if begins("undefined field ") {
			code = UnknownField
		}
	case begins("Syntax error: "):
		advice.Words, code = f.syntax(), Syntax
	case begins("reserved identifier: "):
		advice.Words, code = f.syntax(), UnknownOperator
	case strings.Contains(text, "does not support field selection"):
		advice, code = f.selection(text), NoFields
	case begins(noResolution):
		advice, code = f.selection("type '"+strings.TrimPrefix(text, noResolution)), NoFields
	case begins(noOverload):
		advice.Words, code = cmp.Or(f.overload(text), f.as(UnquotedLiteral, f.unquotedHint())), NoOverload
	case begins("expected type '"):
		advice.Words, code = f.expected(text), MixedTypes
	case strings.Contains(text, "invalid argument to has() macro"):
		advice.Words = f.as(HasArgument, f.argument())
	case text == invalidPattern:
		advice.Words = f.as(InvalidPattern, f.pattern())
	}
	advice.Code = cmp.Or(f.code, code)
	return advice
}

const invalidPattern = "invalid matches argument"

// noResolution begins the message about a field of a value that has methods only.
const noResolution = "unexpected failed resolution of '"

const hasArgument = "has() takes a field: has(self.name); for a map use 'key' in self.labels, for a list size(self.items) > 0"

func (f *fault) argument() string {
	for i := f.token; i < len(f.tokens) && i < f.token+4; i++ {
		if f.at(i) == types.OldSelf && f.at(i+1) == ")" {
			return "a rule that reads oldSelf runs only if there is an old value: leave out has(oldSelf)"
		}
		if owners := f.owners(i); f.isBare(i) && len(owners) == 1 {
			return "has() takes a field of a variable: has(" + owners[0] + "." + f.at(i) + ")"
		}
	}
	return hasArgument
}

var unknownName = lazy.New(`^(?:undefined field|undeclared reference to) '([^']+)'`)

// fault is the position of an error in an expression.
type fault struct {
	src    []rune
	tokens []lex.Token
	// offset is the position in code points, and token the index of the first token that ends after
	// it, or the number of tokens if no token does.
	offset, token int
	context       *Context
	// code is the kind of mistake, if a hint is more specific than the message.
	code string
}

// as records that words are a hint on the kind of mistake with this code, and returns them.
func (f *fault) as(code, words string) string {
	if words != "" {
		f.code = code
	}
	return words
}

// Advise returns the hint for an error, without looking for fixes.
func (p *Context) Advise(bad *engine.CompileError) Advice {
	f, ok := p.newFault(bad)
	if !ok {
		return Advice{}
	}
	return f.advise(bad.Summary())
}

// newFault locates the error in its expression. It reports false if the error has no position there.
func (p *Context) newFault(bad *engine.CompileError) (*fault, bool) {
	if bad.Line < 1 || bad.Column < 1 {
		return nil, false
	}
	f := &fault{src: []rune(bad.Rule), context: p}
	for line := 1; line < bad.Line; f.offset++ {
		if f.offset >= len(f.src) {
			return nil, false
		}
		if f.src[f.offset] == '\n' {
			line++
		}
	}
	f.offset += min(bad.Column-1, len(f.src)-f.offset)
	for _, t := range lex.Tokens(f.src) {
		if t.Kind != lex.Comment {
			f.tokens = append(f.tokens, t)
		}
	}
	for f.token < len(f.tokens) && f.tokens[f.token].End <= f.offset {
		f.token++
	}
	return f, true
}

func (f *fault) names(before string) []string { return f.context.Names(before) }

func (f *fault) at(i int) string {
	if i < 0 || i >= len(f.tokens) {
		return ""
	}
	return f.tokens[i].Text
}

func (f *fault) isName(i int) bool {
	return i >= 0 && i < len(f.tokens) && f.tokens[i].Kind == lex.Ident
}

// operand returns the text of the operand that ends with token last, or other if that operand
// does not exist or is too long to quote.
func (f *fault) operand(last int, other string) string {
	if last >= len(f.tokens) {
		return other
	}
	first := f.operandFirst(last)
	if first < 0 || f.tokens[last].End-f.tokens[first].Start > maxQuoted {
		return other
	}
	return lex.Flat(string(f.src[f.tokens[first].Start:f.tokens[last].End]))
}

const maxQuoted = 60

func (f *fault) nearest(name string, offset int) []string {
	if len(name) < 2 {
		return nil
	}
	var known []string
	isVariable := f.wantsVariable(name, offset)
	for _, candidate := range f.names(string(f.src[:offset])) {
		if candidate != "in" && candidate != name && isVariable(candidate) {
			known = append(known, candidate)
		}
	}
	if escaped := asWritten(known, string(f.src[offset:])); escaped != "" {
		return []string{escaped}
	}
	if whole := dashed(string(f.src[offset:])); whole != "" {
		i := slices.IndexFunc(known, func(one string) bool { return spell.IsTypo(whole, one) })
		if i < 0 {
			return nil
		}
		return known[i : i+1]
	}
	written := make([]string, len(known))
	for i, one := range known {
		written[i], _ = types.Unescape(one)
	}
	near := spell.Near(name, written)
	for i, one := range near {
		near[i] = known[slices.Index(written, one)]
		if spell.IsSame(one, name) {
			return []string{near[i]}
		}
	}
	return near
}

var dashedName = lazy.New(`^[A-Za-z_]\w*(?:-[A-Za-z_]\w*)+`)

// dashed returns the name with dashes at the start of text, or "". It also returns "" if the name is called,
// indexed, or selected from, because a dash is then a minus.
func dashed(text string) string {
	name := dashedName.FindString(text)
	if rest := text[len(name):]; rest != "" && strings.ContainsRune(".([", rune(rest[0])) {
		return ""
	}
	return name
}

// wantsVariable returns a function that reports whether a candidate for the name at offset can be meant: a name
// that is neither selected nor called is not a function.
func (f *fault) wantsVariable(name string, offset int) func(candidate string) bool {
	i := slices.IndexFunc(f.tokens, func(t lex.Token) bool { return t.Start == offset && t.Text == name })
	if i < 0 || f.at(i-1) == "." || f.at(i-1) == ".?" || f.at(i+1) == "(" {
		return func(string) bool { return true }
	}
	variables := append(f.variablesAt(i), rootNames...)
	for _, r := range f.context.Roots {
		variables = append(variables, r.Name)
	}
	return func(candidate string) bool { return slices.Contains(variables, candidate) }
}

var rootNames = []string{types.Self, types.OldSelf, "object", "oldObject", "request", "params", "namespaceObject", "authorizer", "variables", "true", "false", "null"}

// operandFirst returns the index of the first token of the operand that ends with token last, or
// -1.
func (f *fault) operandFirst(last int) int { return lex.Operand(f.tokens, last) }
