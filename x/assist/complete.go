package assist

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/types"
)

// Completion holds the candidates for a cursor position.
type Completion struct {
	// Start is the first code point that a candidate replaces; the replaced range ends at the
	// cursor.
	Start int
	// Candidates begin with the replaced text. If none does, the case of letters is ignored.
	Candidates []Candidate
}

// Candidate is a text that can be inserted, with its type or kind as a hint. The text of a function or
// macro ends with "(", or with "()" if it is a method without arguments.
type Candidate struct {
	Text, Hint string
	Class      Class
}

// Only returns c with the candidates that begin with prefix. If there are no such candidates, it
// ignores case.
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

// CompleteAt is like Complete for a cursor in the middle of src. It ignores the text after the
// cursor.
func (p *Context) CompleteAt(src string, at int) Completion {
	text := []rune(src)
	return p.Complete(text[:max(0, min(at, len(text)))])
}

// Complete returns the candidates for a cursor at the end of src, the part of an expression before
// the cursor.
func (p *Context) Complete(src []rune) Completion {
	tokens := lex.Tokens(src)
	word := lex.Token{Start: len(src), End: len(src)}
	if n := len(tokens); n > 0 && tokens[n-1].End == len(src) {
		switch last := tokens[n-1]; {
		case last.Kind == lex.Comment, last.Kind == lex.Number:
			return Completion{Start: len(src)}
		case last.Open:
			return p.completeString(src, last)
		case last.Kind == lex.Ident:
			word = last
		}
	}
	c := Completion{Start: word.Start}
	v := p.cursor(src[:word.Start])
	if v == nil {
		return c
	}
	if of, name, optional := read(v.above(0)); name == cursor {
		c.Candidates = v.members(of, optional)
	} else {
		c.Candidates = v.words()
	}
	return c.Only(word.Text)
}

// cursor is the identifier that the parser sees instead of the word that is being completed.
const cursor = "__cursor__"

// cursor returns the view at the end of src, or nil.
func (p *Context) cursor(src []rune) *view {
	env, tree := p.tree(string(src) + cursor)
	if tree == nil {
		return nil
	}
	v := p.view(env, tree.Expr(), func(e ast.Expr) bool {
		_, name, _ := read(e)
		return name == cursor || e.Kind() == ast.IdentKind && e.AsIdent() == cursor
	})
	if len(v.path) == 0 { // for example in the name of a macro's variable
		v.path = []ast.Expr{factory.NewIdent(0, cursor)}
	}
	return v
}

func (v *view) members(of ast.Expr, optional bool) []Candidate {
	f := v.expr(of)
	var out []Candidate
	if f.decl != nil && f.decl.Kind == types.Object {
		out = fieldCandidates(f.decl)
	}
	if f.decl != nil && f.decl.Kind == types.Map {
		for _, key := range Keys(f.values) {
			if identifier(key) {
				out = append(out, Candidate{Text: key, Hint: f.decl.Elem.String(), Class: ClassField})
			}
		}
	}
	if optional {
		return out
	}
	t := v.typeOf(of)
	if t == nil {
		return append(out, namespace(v.env, dotted(of)+".")...)
	}
	if f.decl == nil && t.Kind() == celtypes.StructKind {
		if d := declOf(v.context.Node.Decl, t); d != nil {
			out = fieldCandidates(d)
		} else {
			out = v.context.rootFields(dotted(of))
		}
	}
	return append(out, methods(v.env, t)...)
}

func fieldCandidates(d *types.Decl) []Candidate {
	var out []Candidate
	for _, name := range d.FieldNames() {
		if f := d.Fields[name]; f.Visible() {
			out = append(out, Candidate{Text: f.Escaped, Hint: f.Decl.String(), Class: ClassField})
		}
	}
	return out
}

// declOf returns the declaration of an object type by the path in the type's name, or nil.
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

func methods(env *cel.Env, t *cel.Type) []Candidate {
	found := map[string]Candidate{}
	for name, f := range env.Functions() {
		for _, o := range f.OverloadDecls() {
			if !o.IsMemberFunction() || !callable(name, f) || !accepts(o.ArgTypes()[0], t) || anyKind(o.ArgTypes()[0]) {
				continue
			}
			if len(o.ArgTypes()) > 1 {
				found[name+"("] = Candidate{Hint: argument(o.ResultType()), Class: ClassMethod}
			} else if _, ok := found[name+"("]; !ok {
				found[name+"()"] = Candidate{Hint: argument(o.ResultType()), Class: ClassMethod}
			}
		}
	}
	for _, m := range env.Macros() {
		if m.IsReceiverStyle() && loopable(t, m.Function()) {
			found[m.Function()+"("] = Candidate{Hint: "macro", Class: ClassMacro}
		}
	}
	return candidates(found)
}

// anyKind reports whether a parameter of type t accepts every value. Methods with such a receiver are not offered,
// because they match everywhere.
func anyKind(t *cel.Type) bool {
	return t.Kind() == celtypes.DynKind || t.Kind() == celtypes.TypeParamKind
}

func loopable(t *cel.Type, macro string) bool {
	switch {
	case macro == "optMap" || macro == "optFlatMap":
		return isOptional(t)
	case macro == "sortBy":
		return t.Kind() == celtypes.ListKind
	case !IsLoop(macro):
		return false
	}
	return t.Kind() == celtypes.ListKind || t.Kind() == celtypes.MapKind || t.Kind() == celtypes.DynKind
}

func candidates(byText map[string]Candidate) []Candidate {
	var out []Candidate
	for _, text := range slices.Sorted(maps.Keys(byText)) {
		if strings.HasSuffix(text, "()") && byText[strings.TrimSuffix(text, ")")].Hint != "" {
			continue // also takes arguments
		}
		c := byText[text]
		c.Text = text
		out = append(out, c)
	}
	return out
}

func namespace(env *cel.Env, prefix string) []Candidate {
	found := map[string]Candidate{}
	for name, f := range env.Functions() {
		if rest, ok := strings.CutPrefix(name, prefix); ok && identifier(rest) {
			found[rest+"("] = Candidate{Hint: argument(f.OverloadDecls()[0].ResultType()), Class: ClassFunction}
		}
	}
	return candidates(found)
}

func (v *view) words() []Candidate {
	var out []Candidate
	if node := v.context.Node; !node.Bare {
		out = []Candidate{{Text: types.Self, Hint: node.Decl.String(), Class: ClassVariable}, {Text: types.OldSelf, Hint: "self before the change", Class: ClassVariable}}
	}
	for _, r := range v.context.Roots {
		out = append(out, Candidate{Text: r.Name, Class: ClassVariable})
	}
	for _, l := range v.loops {
		for _, name := range l.names {
			hint := "variable"
			if d := v.vars[name].decl; d != nil {
				hint = d.String()
			}
			out = append([]Candidate{{Text: name, Hint: hint, Class: ClassVariable}}, out...)
		}
	}
	found := map[string]Candidate{"has(": {Hint: "macro", Class: ClassMacro}, "null": {Hint: "null", Class: ClassWord}}
	found["true"], found["false"] = Candidate{Hint: "boolean", Class: ClassWord}, Candidate{Hint: "boolean", Class: ClassWord}
	for name, f := range v.env.Functions() {
		if !callable(name, f) {
			continue
		}
		for _, o := range f.OverloadDecls() {
			if !o.IsMemberFunction() {
				found[name+"("] = Candidate{Hint: argument(o.ResultType()), Class: ClassFunction}
			}
		}
	}
	return append(out, candidates(found)...)
}

// identifier returns false for operators, whose names begin with _.
func identifier(name string) bool {
	for i, r := range name {
		if !lex.Letter(r) && (i == 0 || !lex.LetterOrDigit(r)) {
			return false
		}
	}
	return name != "" && !strings.HasPrefix(name, "_")
}

// Names returns the words that can follow src, without parentheses.
func (p *Context) Names(src string) []string {
	c := p.Complete([]rune(src))
	names := make([]string, len(c.Candidates))
	for i, candidate := range c.Candidates {
		names[i], _, _ = strings.Cut(candidate.Text, "(")
	}
	return slices.Compact(names)
}
