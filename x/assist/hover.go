package assist

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// Hover describes the part of an expression at a position.
type Hover struct {
	// Start and End delimit the described token in code points. Text is the described part on one
	// line.
	Start, End int
	Text       string
	// Type is the result type in OpenAPI terms, and Bounds holds the schema's constraints on it. Each is "" if unknown.
	Type, Bounds string
	// Description is from the schema or the function: a single line, or "".
	Description string
	// InObject reports whether the part reads the object, the old object, or another variable with a schema.
	// Path is then the path in it, such as "spec.hosts[*].name", and Schema is the schema at that path, or nil
	// if it is unknown.
	InObject bool
	Path     string
	Schema   *apiextensionsv1.JSONSchemaProps
	// Function is set for a function, method, or macro.
	Function *Function
	// Part is the estimated cost of this part in one evaluation of the expression, and Whole the price of the whole
	// expression. Each is nil if it is unknown.
	Part  *cost.Estimate
	Whole *Price

	part Part
}

// Lines returns the hover as lines of text. The first line is the part and its type.
func (h *Hover) Lines() []string {
	first := h.Text
	if h.Type != "" {
		first += ": " + h.Type
	}
	lines := []string{first}
	add := func(text string) {
		if text != "" {
			lines = append(lines, text)
		}
	}
	add(h.Bounds)
	if f := h.Function; f != nil {
		for _, form := range f.Forms {
			add(form.Signature + "  (" + form.Since + ")")
		}
	}
	add(h.Description)
	if f := h.Function; f != nil {
		for _, example := range f.Examples {
			add("e.g. " + example.String())
		}
	}
	if h.Part != nil {
		add("estimate " + phrase.Range(h.Part.Min, h.Part.Max))
	}
	if h.Whole != nil {
		add(h.part.String() + ": " + h.Whole.Words())
	}
	return lines
}

// Words formats a price, for example as "estimate 2 to 5 x 64 = 320, <0.1% of the limit".
func (c *Price) Words() string {
	text := "estimate " + phrase.Range(c.Estimate.Min, c.Estimate.Max)
	if c.Times > 1 && c.Total != c.Estimate.Max {
		text += " x " + phrase.Number(c.Times) + " = " + phrase.Number(c.Total)
	}
	return text + ", " + phrase.Share(c.Total, c.Limit) + " of the limit"
}

// Hover describes the part of src at code point at. src may be incomplete. Hover returns nil if nothing is known about
// the part.
func (p *Context) Hover(src string, at int) *Hover {
	text := []rune(src)
	tokens := lex.Tokens(text)
	i := slices.IndexFunc(tokens, func(t lex.Token) bool { return t.Start <= at && at < t.End })
	if i < 0 || tokens[i].Kind == lex.Operator { // just after a word
		if word := slices.IndexFunc(tokens, func(t lex.Token) bool { return t.End == at && t.Kind == lex.Ident }); word >= 0 {
			i = word
		}
	}
	env, tree := p.tree(src)
	if i < 0 || tree == nil || tokens[i].Kind == lex.Comment || tokens[i].Kind == lex.String || tokens[i].Kind == lex.Number {
		return nil
	}
	h := &Hover{part: p.Part, Start: tokens[i].Start, End: tokens[i].End, Text: tokens[i].Text}
	if name := functionAt(env, tokens, i); name != "" {
		h.Function = p.functions().Of(name, p, "")
	}
	v := p.viewAt(env, tree, tokens, i)
	switch {
	case v != nil:
		h.Text = textOf(text, tokens, i, v.above(0))
		h.describe(v)
	case h.Function == nil:
		return nil
	}
	if x, err := p.compile(src); err == nil {
		price := p.Price(x)
		h.Whole = &price
	}
	return h
}

func functionAt(env *cel.Env, tokens []lex.Token, i int) string {
	if tokens[i].Kind != lex.Ident || i+1 == len(tokens) || tokens[i+1].Text != "(" {
		return ""
	}
	if first := lex.Operand(tokens, i); first >= 0 {
		whole := ""
		for _, t := range tokens[first : i+1] {
			whole += t.Text
		}
		if env.Functions()[whole] != nil {
			return whole
		}
	}
	return tokens[i].Text
}

func (p *Context) viewAt(env *cel.Env, tree *ast.AST, tokens []lex.Token, i int) *view {
	of := i
	switch isName := tokens[i].Kind == lex.Ident; {
	case isName && i+1 < len(tokens) && tokens[i+1].Text == "(":
		of = i + 1
	case isName && i > 0 && isSelection(tokens[i-1]):
		of = i - 1
	}
	v := p.view(env, tree.Expr(), func(e ast.Expr) bool {
		r, ok := tree.SourceInfo().GetOffsetRange(e.ID())
		return ok && int(r.Start) == tokens[of].Start && e.Kind() != ast.LiteralKind
	})
	if len(v.path) > 0 {
		return v
	}
	if i < 1 || tokens[i].Kind != lex.Ident {
		return nil
	}
	return p.viewOfName(env, tree, tokens, i)
}

// viewOfName is viewAt for names without a node of their own: the declaration of a macro's
// variable, and the field in the argument of has().
func (p *Context) viewOfName(env *cel.Env, tree *ast.AST, tokens []lex.Token, i int) *view {
	name := tokens[i].Text
	at := func(e ast.Expr, start int) bool {
		r, ok := tree.SourceInfo().GetOffsetRange(e.ID())
		return ok && int(r.Start) == start
	}
	if tokens[i-1].Text == "." {
		v := p.view(env, tree.Expr(), func(e ast.Expr) bool {
			return e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() && e.AsSelect().FieldName() == name
		})
		if len(v.path) == 0 {
			return nil
		}
		test := v.path[len(v.path)-1].AsSelect()
		v.path[len(v.path)-1] = factory.NewSelect(0, test.Operand(), name)
		return v
	}
	open := i - 1
	if tokens[open].Text == "," && open > 1 {
		open -= 2
	}
	var part ast.Expr
	v := p.view(env, tree.Expr(), func(e ast.Expr) bool {
		if part == nil && e.Kind() == ast.ComprehensionKind && at(e, tokens[open].Start) {
			if c := e.AsComprehension(); c.IterVar() == name || c.IterVar2() == name {
				part = c.LoopStep()
			} else if c.AccuVar() == name {
				part = c.Result()
			}
		}
		return part != nil && e.ID() == part.ID()
	})
	if len(v.path) == 0 {
		return nil
	}
	v.path[len(v.path)-1] = factory.NewIdent(0, name)
	return v
}

// textOf returns the source of a node on one line. For a name, that includes the operand to its
// left.
func textOf(text []rune, tokens []lex.Token, i int, e ast.Expr) string {
	first := i
	if tokens[i].Kind == lex.Ident {
		if first = lex.Operand(tokens, i); first < 0 {
			first = i
		}
	}
	out := lex.Flat(string(text[tokens[first].Start:tokens[i].End]))
	if e.Kind() == ast.CallKind || e.Kind() == ast.ComprehensionKind {
		if i+1 < len(tokens) && tokens[i+1].Text == "(" {
			out += "()"
		}
	}
	return out
}

func (h *Hover) describe(v *view) {
	e := v.above(0)
	f := v.expr(e)
	if f.decl != nil && !mayBeOptional(e) {
		h.Type = f.decl.String()
	} else if t := v.typeOf(e); t != nil {
		h.Type = typeWords(t)
	}
	if f.decl != nil {
		h.Bounds, h.InObject, h.Path, h.Schema = Bounds(f.decl, f.schema), true, engine.FormatPath(f.steps), f.schema
		if f.schema != nil {
			h.Description = lex.OneLine(f.schema.Description)
		}
	} else if h.Function != nil {
		h.Description = h.Function.Description
	}
	h.Part = v.cost(e)
}

// cost returns the cost of e in an evaluation of the whole expression, over all iterations of the
// macros around it, or nil if it cannot be estimated.
func (v *view) cost(e ast.Expr) *cost.Estimate {
	whole, ok := v.estimate(e)
	rest, ok2 := v.estimate(factory.NewLiteral(0, celtypes.True))
	if !ok || !ok2 {
		return nil
	}
	return &cost.Estimate{Min: whole.Min - min(rest.Min, whole.Min), Max: whole.Max - min(rest.Max, whole.Max)}
}

func (v *view) estimate(e ast.Expr) (cost.Estimate, bool) {
	checked := v.check(e)
	if checked == nil {
		return cost.Estimate{}, false
	}
	return v.context.model().Of(checked, v.context.Node.Decl), true
}
