package assist

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/lex"
	"github.com/celadon-cel/celadon/types"
)

// binding is a macro's variable at the cursor.
type binding struct {
	name string
	// over is the text that the macro goes over.
	over string
	// second is true for the value of a macro with two variables; wrap is how
	// the type of an expression over the variable can be asked for.
	second bool
	wrap   string
}

// macros with a variable, and what gives the type of an expression over it.
var loopMacros = map[string]string{
	"all": "map", "exists": "map", "exists_one": "map", "existsOne": "map", "map": "map", "filter": "map",
	"transformList": "map", "transformMap": "map", "transformMapEntry": "map", "sortBy": "map",
	"optMap": "optMap", "optFlatMap": "optMap",
}

// IsLoop is true for the name of a macro that has a variable.
func IsLoop(name string) bool { return loopMacros[name] != "" }

// bindings are the macro variables in scope behind the tokens, outermost first.
func bindings(src []rune, tokens []lex.Token) []binding {
	var open []int
	for i, t := range tokens {
		switch lex.Depth(t) {
		case 1:
			open = append(open, i)
		case -1:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
	}
	var out []binding
	for _, i := range open {
		out = append(out, bindingsAt(src, tokens, i)...)
	}
	return out
}

// bindingsAt are those of the macro whose bracket is tokens[i].
func bindingsAt(src []rune, tokens []lex.Token, i int) []binding {
	if tokens[i].Text != "(" || i < 3 || tokens[i-2].Text != "." {
		return nil
	}
	wrap, ok := loopMacros[tokens[i-1].Text]
	rest := tokens[i+1:]
	if !ok || len(rest) < 2 || rest[0].Kind != lex.Ident || rest[1].Text != "," {
		return nil
	}
	start := lex.Operand(tokens, i-3)
	if start < 0 {
		return nil
	}
	over := string(src[tokens[start].Start:tokens[i-3].End])
	first := binding{name: rest[0].Text, over: over, wrap: wrap}
	if len(rest) >= 4 && rest[2].Kind == lex.Ident && rest[3].Text == "," && wrap == "map" {
		first.wrap = ""
		return []binding{first, {name: rest[2].Text, over: over, second: true, wrap: "transformList"}}
	}
	return []binding{first}
}

// scope resolves operands at one place of an expression.
type scope struct {
	resolver
	bound []binding
}

func (p *Place) scope(bound []binding) *scope {
	sc := &scope{resolver: resolver{place: p, vars: map[string]found{}}, bound: bound}
	for _, b := range bound {
		over := sc.parse(b.over)
		switch {
		case b.wrap == "optMap":
			sc.vars[b.name] = over
		case over.decl != nil && over.decl.Kind == types.Map && !b.second || b.wrap == "":
			sc.vars[b.name] = found{} // a key or an index
		default:
			sc.vars[b.name] = over.elements()
		}
	}
	return sc
}

// parse is the declaration of an operand's text.
func (sc *scope) parse(text string) found {
	env := sc.place.env()
	text, err := sc.place.expand(text)
	if env == nil || err != nil {
		return found{}
	}
	parsed, err := types.Parse(env, text)
	if err != nil {
		return found{}
	}
	return sc.expr(parsed.NativeRep().Expr())
}

// typeOf is the type of an operand's text, by its declaration or by the
// checker; nil where it has none.
func (sc *scope) typeOf(text string, f found) *cel.Type {
	if f.decl != nil && !strings.Contains(text, "?") {
		if t := f.decl.CELType(); t != nil {
			return t
		}
	}
	env := sc.place.env()
	if env == nil {
		return nil
	}
	levels := 0
	for i := len(sc.bound) - 1; i >= 0; i-- {
		switch b := sc.bound[i]; b.wrap {
		case "map", "optMap":
			text = fmt.Sprintf("(%s).%s(%s, %s)", b.over, b.wrap, b.name, text)
			levels++
		case "transformList":
			text = fmt.Sprintf("(%s).transformList(%s, %s, %s)", b.over, sc.bound[i-1].name, b.name, text)
			levels++
		}
	}
	text, err := sc.place.expand(text)
	if err != nil {
		return nil
	}
	checked, err := types.Check(env, text)
	if err != nil {
		return nil
	}
	t := checked.OutputType()
	for ; levels > 0 && len(t.Parameters()) == 1; levels-- {
		t = t.Parameters()[0]
	}
	return t
}

// accepts is true when a function's parameter takes a value of type t.
func accepts(param, t *cel.Type) bool {
	switch {
	case param.Kind() == celtypes.TypeParamKind, param.Kind() == celtypes.DynKind, t.Kind() == celtypes.DynKind:
		return true
	case param.Kind() != t.Kind():
		return false
	case param.Kind() == celtypes.OpaqueKind && param.TypeName() != t.TypeName():
		return false
	case param.Kind() == celtypes.StructKind:
		return param.TypeName() == t.TypeName()
	}
	for i, p := range param.Parameters() {
		if i < len(t.Parameters()) && !accepts(p, t.Parameters()[i]) {
			return false
		}
	}
	return true
}
