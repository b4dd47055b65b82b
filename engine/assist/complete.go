package assist

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/lex"
	"github.com/celadon-cel/celadon/types"
)

// Completion is what fits at one place of a line.
type Completion struct {
	// Start is the code point from which a candidate replaces what stands
	// before the cursor.
	Start int
	// Candidates begin with what stands there; those that fit best come first.
	Candidates []Candidate
}

// Candidate is one text that fits, and what it is. Of a function or macro that
// takes arguments it ends with the bracket, of one that takes none with both.
type Candidate struct {
	Text, Hint string
	Class      Class
}

// Only keeps the candidates that begin so; where none does, those that do but
// for their case.
func (c Completion) Only(prefix string) Completion {
	all := c.Candidates
	c.Candidates = nil
	for _, candidate := range all {
		if strings.HasPrefix(candidate.Text, prefix) {
			c.Candidates = append(c.Candidates, candidate)
		}
	}
	if len(c.Candidates) > 0 || prefix == "" {
		return c
	}
	for _, candidate := range all {
		if len(candidate.Text) >= len(prefix) && strings.EqualFold(candidate.Text[:len(prefix)], prefix) {
			c.Candidates = append(c.Candidates, candidate)
		}
	}
	return c
}

// CompleteAt is Complete in the middle of an expression. What stands behind the
// cursor does not matter.
func (p *Place) CompleteAt(src string, at int) Completion {
	text := []rune(src)
	return p.Complete(text[:max(0, min(at, len(text)))])
}

// Complete offers what can stand at the end of src, which is what of an
// expression is before the cursor.
func (p *Place) Complete(src []rune) Completion {
	tokens := lex.Tokens(src)
	word := lex.Token{Start: len(src), End: len(src)}
	if n := len(tokens); n > 0 && tokens[n-1].End == len(src) {
		switch last := tokens[n-1]; {
		case last.Kind == lex.Comment, last.Kind == lex.Number:
			return Completion{Start: len(src)}
		case last.Open:
			return p.completeString(src, tokens[:n-1], last)
		case last.Kind == lex.Ident:
			word, tokens = last, tokens[:n-1]
		}
	}
	c := Completion{Start: word.Start}
	sc := p.scope(bindings(src, tokens))
	if n := len(tokens); n > 1 && (tokens[n-1].Text == "." || tokens[n-1].Text == ".?") {
		c.Candidates = p.members(sc, src, tokens[:n-1], tokens[n-1].Text == ".?")
	} else {
		c.Candidates = p.words(sc)
	}
	return c.Only(word.Text)
}

// members are the fields and methods of the operand that the tokens end with.
func (p *Place) members(sc *scope, src []rune, tokens []lex.Token, optional bool) []Candidate {
	start := lex.Operand(tokens, len(tokens)-1)
	if start < 0 {
		return nil
	}
	text := string(src[tokens[start].Start:tokens[len(tokens)-1].End])
	f := sc.parse(text)
	var out []Candidate
	if f.decl != nil && f.decl.Kind == types.Object {
		out = fieldCandidates(f.decl)
	}
	if f.decl != nil && f.decl.Kind == types.Map {
		for _, key := range Keys(f.values) {
			if identifier(key) {
				out = append(out, Candidate{Text: key, Hint: f.decl.Elem.String()})
			}
		}
	}
	if optional {
		return out
	}
	t := sc.typeOf(text, f)
	if t == nil {
		return append(out, namespace(p.env(), text+".")...)
	}
	if f.decl == nil && t.Kind() == celtypes.StructKind {
		if d := declOf(p.Node.Decl(), t); d != nil {
			out = fieldCandidates(d)
		}
	}
	return append(out, methods(p.env(), t)...)
}

func fieldCandidates(d *types.Decl) []Candidate {
	var out []Candidate
	for _, name := range d.FieldNames() {
		if f := d.Fields[name]; f.Visible() {
			out = append(out, Candidate{Text: f.Escaped, Hint: f.Decl.String()})
		}
	}
	return out
}

// declOf finds an object's declaration by the path in its type's name.
func declOf(d *types.Decl, t *cel.Type) *types.Decl {
	for _, step := range strings.Split(t.TypeName(), ".")[1:] {
		switch {
		case d == nil:
			return nil
		case step == "@idx" || step == "@elem":
			d = d.Elem
		default:
			f, ok := d.ByIdent(step)
			if !ok {
				return nil
			}
			d = f.Decl
		}
	}
	return d
}

// methods are the functions and macros that a value of type t has.
func methods(env *cel.Env, t *cel.Type) []Candidate {
	if env == nil {
		return nil
	}
	found := map[string]string{}
	for name, f := range env.Functions() {
		for _, o := range f.OverloadDecls() {
			if !o.IsMemberFunction() || !callable(name, f) || !accepts(o.ArgTypes()[0], t) || anyKind(o.ArgTypes()[0]) {
				continue
			}
			if len(o.ArgTypes()) > 1 {
				found[name+"("] = argument(o.ResultType())
			} else if _, ok := found[name+"("]; !ok {
				found[name+"()"] = argument(o.ResultType())
			}
		}
	}
	for _, m := range env.Macros() {
		if m.IsReceiverStyle() && loopable(t, m.Function()) {
			found[m.Function()+"("] = "macro"
		}
	}
	return candidates(found)
}

// anyKind is true for a parameter that any value fits: no reason to offer it.
func anyKind(t *cel.Type) bool {
	return t.Kind() == celtypes.DynKind || t.Kind() == celtypes.TypeParamKind
}

func loopable(t *cel.Type, macro string) bool {
	switch {
	case macro == "optMap" || macro == "optFlatMap":
		return isOptional(t)
	case macro == "sortBy":
		return t.Kind() == celtypes.ListKind
	case loopMacros[macro] == "":
		return false
	}
	return t.Kind() == celtypes.ListKind || t.Kind() == celtypes.MapKind || t.Kind() == celtypes.DynKind
}

func candidates(byText map[string]string) []Candidate {
	var out []Candidate
	for _, text := range slices.Sorted(maps.Keys(byText)) {
		if strings.HasSuffix(text, "()") && byText[strings.TrimSuffix(text, ")")] != "" {
			continue // also takes arguments
		}
		out = append(out, Candidate{Text: text, Hint: byText[text]})
	}
	return out
}

// namespace are the functions whose name begins so.
func namespace(env *cel.Env, prefix string) []Candidate {
	if env == nil {
		return nil
	}
	found := map[string]string{}
	for name, f := range env.Functions() {
		if rest, ok := strings.CutPrefix(name, prefix); ok && identifier(rest) {
			found[rest+"("] = argument(f.OverloadDecls()[0].ResultType())
		}
	}
	return candidates(found)
}

// words are what an expression can begin with.
func (p *Place) words(sc *scope) []Candidate {
	out := []Candidate{{Text: types.Self, Hint: p.Node.Decl().String()}, {Text: types.OldSelf, Hint: "self before the change"}}
	out = append(out, p.Named...)
	for _, b := range sc.bound {
		hint := "variable"
		if d := sc.vars[b.name].decl; d != nil {
			hint = d.String()
		}
		out = append([]Candidate{{Text: b.name, Hint: hint}}, out...)
	}
	found := map[string]string{"true": "boolean", "false": "boolean", "null": "null", "has(": "macro"}
	env := p.env()
	if env == nil {
		return out
	}
	for name, f := range env.Functions() {
		if !callable(name, f) {
			continue
		}
		for _, o := range f.OverloadDecls() {
			if !o.IsMemberFunction() {
				found[name+"("] = argument(o.ResultType())
			}
		}
	}
	return append(out, candidates(found)...)
}

// identifier is true for names that an expression can hold; not operators.
func identifier(name string) bool {
	for i, r := range name {
		if !lex.Letter(r) && (i == 0 || !lex.LetterOrDigit(r)) {
			return false
		}
	}
	return name != "" && !strings.HasPrefix(name, "__") && !strings.HasPrefix(name, "_")
}

// completeString offers what can stand in the quotes that are open at the end:
// the values of an enum, the keys of a map.
func (p *Place) completeString(src []rune, before []lex.Token, open lex.Token) Completion {
	quote, raw := open.Start, false
	if q, r := lex.StringPrefix(src, open.Start); q > open.Start {
		quote, raw = q, r
	}
	c := Completion{Start: quote + 1}
	if strings.HasPrefix(string(src[quote:]), strings.Repeat(string(src[quote]), 3)) {
		return c
	}
	q := string(src[quote])
	sc := p.scope(bindings(src, before))
	for _, text := range p.stringsAt(sc, src, before) {
		if !raw {
			text = strings.Trim(strconv.Quote(text), `"`)
			if q == "'" {
				text = strings.ReplaceAll(strings.ReplaceAll(text, `\"`, `"`), "'", `\'`)
			}
		}
		c.Candidates = append(c.Candidates, Candidate{Text: text + q})
	}
	return c.Only(string(src[quote+1:]))
}

func (p *Place) stringsAt(sc *scope, src []rune, before []lex.Token) []string {
	n := len(before)
	if n < 2 {
		return nil
	}
	operand := func(last int) found {
		start := lex.Operand(before, last)
		if start < 0 {
			return found{}
		}
		return sc.parse(string(src[before[start].Start:before[last].End]))
	}
	switch before[n-1].Text {
	case "==", "!=":
		return Enum(operand(n - 2).schema)
	case "[", "[?":
		if f := operand(n - 2); f.decl != nil && f.decl.Kind == types.Map && lex.EndsOperand(before[n-2]) {
			return Keys(f.values)
		}
	}
	if i := openList(before); i > 1 && before[i-1].Text == "in" {
		return Enum(operand(i - 2).schema)
	}
	return nil
}

// openList is the bracket of the list that the tokens end in; -1 for none.
func openList(tokens []lex.Token) int {
	depth := 0
	for i := len(tokens) - 1; i >= 0; i-- {
		if depth += lex.Depth(tokens[i]); depth > 0 {
			if tokens[i].Text == "[" {
				return i
			}
			return -1
		}
	}
	return -1
}

// Keys are those of all maps among values, sorted.
func Keys(values []any) []string {
	keys := map[string]bool{}
	for _, v := range values {
		if m, ok := v.(map[string]any); ok {
			for key := range m {
				keys[key] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// Names are all words that could stand where src ends, without brackets: what Advise
// asks for.
func (p *Place) Names(src string) []string {
	c := p.Complete([]rune(src))
	names := make([]string, len(c.Candidates))
	for i, candidate := range c.Candidates {
		names[i], _, _ = strings.Cut(candidate.Text, "(")
	}
	return slices.Compact(names)
}

// CompleteFieldPath is CompleteAt for a rule's fieldPath: a path of fields below the
// place, as ".spec.name" or ".labels['a.b']".
func (p *Place) CompleteFieldPath(src string, at int) Completion {
	text := []rune(src)
	return p.fieldPath(text[:max(0, min(at, len(text)))])
}
