package assist

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
)

// Problem is a defect of an expression and how to fix it.
type Problem struct {
	Kind ProblemKind
	// Start and End delimit the affected code points.
	Start, End int
	// Message describes the defect. For a Broken expression, it is the API server's message without
	// the position.
	Message string
	// Read is the field that an Unguarded expression reads, or "".
	Read string
	Advice
}

// ProblemKind is the kind of a Problem.
type ProblemKind uint8

// The kinds of problems. A Broken expression is rejected by the API server because of its syntax,
// names, or types. An Unguarded expression reads a field that may be absent, so its evaluation may
// fail. The estimate of a Costly expression exceeds the limit.
const (
	Broken ProblemKind = iota
	Unguarded
	Costly
)

// Advice describes how to fix an expression. The zero value means that no advice is available.
type Advice struct {
	// Names holds likely replacements for an unknown name.
	Names []string
	// Code identifies the kind of mistake in the index of errors, or is "".
	Code string
	// Words is a hint on one line, if the remedy is more than a replacement name. It may quote the
	// expression.
	Words string
	// Fixes holds alternatives that each remove the problem, the best first.
	Fixes []Fix
}

// Fix is a change to the expression that removes a problem.
type Fix struct {
	// Title describes the fix on one line: "write == for =".
	Title string
	Edits []Edit
	// Partial is set if the expression then has another mistake further right. Certain is set if the author can have
	// meant nothing else, as with = for ==.
	Partial, Certain bool
}

// Edit replaces the code points from Start to End by Text.
type Edit struct {
	Start, End int
	Text       string
}

// Apply returns src with edits applied. The edits must not overlap.
func Apply(src string, edits []Edit) string {
	text := []rune(src)
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return b.Start - a.Start })
	for _, e := range edits {
		text = slices.Replace(text, e.Start, e.End, []rune(e.Text)...)
	}
	return string(text)
}

// Problems returns the problems of an expression. If src does not compile, or its type does not suit its part, that is
// the only problem. Otherwise, the result holds the fields that are read without a guard, and then the cost problem, if
// any.
func (p *Context) Problems(src string) []Problem {
	x, err := p.compile(src)
	var bad *engine.CompileError
	switch {
	case errors.As(err, &bad):
		return []Problem{p.ProblemOf(bad)}
	case err != nil:
		return nil
	}
	if bad := p.mistyped(x); bad != nil {
		return []Problem{*bad}
	}
	all := p.unguarded(x)
	if costProblem := p.costly(x); costProblem != nil {
		all = append(all, *costProblem)
	}
	return all
}

func (p *Context) mistyped(x *expr.Expr) *Problem {
	if p.fits(x) {
		return nil
	}
	part := partOf[p.Part]
	all := Span{0, len([]rune(x.Source()))}
	out := &Problem{Advice: Advice{Code: WrongType}, Start: all.Start, End: all.End, Message: part.WrongType()}
	changes := [][]Edit{wrap(all, "string(", ")")}
	if p.Part == Rule {
		if isOptional(x.Type()) {
			out.Code = OptionalValue
		}
		of := operandPart{all, x.AST().NativeRep().Expr(), x.Type().String(), kindOf(x.Type().String())}
		out.Words = asCondition(of.kind, cmp.Or(dotted(of.e), "x"))
		f := &fault{src: []rune(x.Source()), context: p}
		m := &fixer{fault: f, nodes: of.e, source: lex.NewSource(x.Source(), x.AST())}
		changes = m.conditions(of)
	}
	for _, e := range changes {
		bare := p.tried(x.Source(), e)
		if len(bare) == 0 && len(e) == 1 {
			bare = p.tried(x.Source(), []Edit{{all.Start, all.Start, "("}, {all.End, all.End, ")" + e[0].Text}})
		}
		out.Fixes = append(out.Fixes, bare...)
	}
	return out
}

var partOf = map[Part]expr.Part{Rule: expr.Itself, MessageExpression: expr.Message}

func (p *Context) fits(x *expr.Expr) bool {
	part, ok := partOf[p.Part]
	return !ok || part.Takes(x.AST())
}

func (p *Context) tried(src string, edits []Edit) []Fix {
	if x, err := p.compile(Apply(src, edits)); err != nil || !p.sound(src, x) {
		return nil
	}
	return []Fix{{Title: titleOf([]rune(src), edits), Edits: edits}}
}

// ProblemOf converts a compile error of an expression at p to a problem with fixes.
func (p *Context) ProblemOf(bad *engine.CompileError) Problem {
	f, ok := p.newFault(bad)
	if !ok {
		if x, err := p.compile(bad.Rule); err == nil {
			if typed := p.mistyped(x); typed != nil {
				return *typed
			}
		}
		return Problem{Message: bad.Summary(), End: len([]rune(bad.Rule))}
	}
	if p.Part == MessageExpression && !strings.ContainsAny(bad.Rule, `'"(.`) && len(f.tokens) > 1 {
		const words = "a messageExpression is an expression: write a text that is always the same in message"
		return Problem{Message: bad.Summary(), End: len(f.src), Advice: Advice{Code: Syntax, Words: words}}
	}
	out := Problem{Message: bad.Summary(), Advice: f.advise(bad.Summary())}
	out.Start, out.End = f.extent()
	out.Fixes = p.fixes(bad, f, out.Advice)
	isWritten := func(name string) bool {
		return strings.Contains(Apply(bad.Rule, out.Fixes[0].Edits), strings.TrimSuffix(name, "()"))
	}
	if len(out.Fixes) > 0 && !out.Fixes[0].Partial && !slices.ContainsFunc(out.Names, isWritten) {
		out.Names = nil // the fix reads the name in another way
	}
	if out.Words == "" && len(out.Names) == 0 && len(out.Fixes) > 0 && !out.Fixes[0].Partial {
		out.Words = out.Fixes[0].Title
	}
	return out
}

// extent returns the range that the error is about: the token at its position, or the name if that
// token is the dot of a selection or the bracket of a call, or the argument of has().
func (f *fault) extent() (start, end int) {
	i := f.token
	if i == len(f.tokens) {
		return len(f.src), len(f.src)
	}
	switch {
	case f.at(i) == "." && f.isName(i+1):
		i++
	case f.at(i) == "(" && f.at(i-1) == "has" && i+1 < len(f.tokens):
		i++
		for i+1 < len(f.tokens) && lex.Depth(f.tokens[i]) == 0 && lex.Depth(f.tokens[i+1]) == 0 {
			i++
		}
	case f.at(i) == "(" && f.isName(i-1) && f.tokens[i-1].End == f.tokens[i].Start:
		i--
	}
	return f.tokens[i].Start, f.tokens[i].End
}

// Summary returns the problem in a few words, without the notation of cel-go.
func (p *Problem) Summary() string {
	if unknown := unknownName.FindStringSubmatch(p.Message); unknown != nil && p.Code == NoOverload {
		return unknown[1] + " does not take these arguments"
	}
	return short(p.Message)
}

// Hint returns how to fix the problem on one line, or "". It suggests no names if the message suggests some.
func (p *Problem) Hint() string {
	if p.Words != "" || len(p.Names) == 0 || Suggests(p.Message) {
		return p.Words
	}
	return "did you mean " + strings.Join(p.Names, " or ") + "?"
}

// Suggests reports whether a message of the checker suggests names, as in Kubernetes 1.38.
func Suggests(message string) bool { return strings.Contains(message, " (did you mean '") }

// Fixed returns src with the first fix. It returns "" without a fix, for a partial fix, or for a missing
// guard, because it is unknown whether objects without the field should be accepted.
func (p *Problem) Fixed(src string) string {
	if len(p.Fixes) == 0 || p.Fixes[0].Partial || p.Kind == Unguarded {
		return ""
	}
	return Apply(src, p.Fixes[0].Edits)
}

var shortened = []struct {
	message *lazy.Regexp
	short   string
}{
	{lazy.New(`^undefined field '(.+)'$`), "unknown field $1"},
	{lazy.New(`^undeclared reference to '(.+?)'(?: \(in container ''\))?( \(did you mean '.+\?\))?$`), "unknown name $1$2"},
	{lazy.New(`(?s)^Syntax error: missing '(.+)' at '<EOF>'$`), "$1 is missing at the end"},
	{lazy.New(`(?s)^Syntax error: missing '(.+)' at '(.+)'$`), "$1 is missing before $2"},
	{lazy.New(`(?s)^Syntax error: (?:mismatched|extraneous) input '<EOF>' expecting .+$`), "the expression is incomplete"},
	{lazy.New(`(?s)^Syntax error: (?:mismatched|extraneous) input '(.+?)' expecting .+$`), "unexpected $1"},
	{lazy.New(`(?s)^Syntax error: no viable alternative at input '(.+)'$`), "unexpected $1"},
	{lazy.New(`(?s)^Syntax error: token recognition error at: '(.+)'$`), "unexpected $1"},
	{lazy.New(`^Syntax error: `), ""},
	{lazy.New(`^reserved identifier: (.+)$`), "$1 is a reserved word"},
	{lazy.New(`^type '(.+)' does not support field selection$`), "$1 has no fields"},
	{lazy.New(`^unexpected failed resolution of '(.+)'$`), "$1 has no fields"},
	{lazy.New(`^expected type '(.+)' but found '(.+)'$`), "got $2, want $1"},
}

var overloads = lazy.New(`^found no matching overload for '(.+)' applied to '(.*)'$`)

// internalTypes matches names of types that come from paths in the schema.
var internalTypes = lazy.New(`\bselfType[\w@]*(\.[\w@]+)*`)

func short(message string) string {
	message = internalTypes.ReplaceAllString(message, "object")
	message = strings.NewReplacer("kubernetes.Quantity", "quantity", "kubernetes.Semver", "version", "kubernetes.URL", "URL", "net.IP", "IP", "net.CIDR", "CIDR").Replace(message)
	if match := overloads.FindStringSubmatch(message); match != nil {
		types := strings.TrimSuffix(strings.TrimPrefix(match[2], "("), ")")
		if symbol, ok := operators.FindReverse(match[1]); ok && symbol != "" {
			return "no operator " + symbol + " for " + strings.Join(splitTypes(types), " and ")
		}
		if target, arguments, isMethod := strings.Cut(match[2], ".("); isMethod {
			return target + " has no method " + match[1] + "(" + arguments
		}
		return "no function " + match[1] + match[2]
	}
	for _, s := range shortened {
		if s.message.MatchString(message) {
			return s.message.ReplaceAllString(message, s.short)
		}
	}
	return message
}
