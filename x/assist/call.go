package assist

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/decls"

	"github.com/celadon-cel/celadon/internal/cel/lex"
)

// Call is the call that a place of an expression stands in the brackets of.
type Call struct {
	Name string
	// Start is the code point where the name stands.
	Start int
	// Function tells of it. Its Forms are the ways to call it that fit what is there:
	// of a method, those of the value that it is of.
	Function *Function
	// Form is the position of the form that fits best; Argument the argument, from 0,
	// that the place is in: the value that a method is of is none.
	Form, Argument int
}

// Span is a part of a text, in code points.
type Span struct{ Start, End int }

// Call is the innermost call around a code point of an expression, whole or half
// written; nil where there is none, or of nothing that is known.
func (p *Place) Call(src string, at int) *Call {
	text := []rune(src)
	text = text[:max(0, min(at, len(text)))]
	tokens := lex.Tokens(text)
	open, argument := openCall(tokens)
	if open < 1 || tokens[open-1].Kind != lex.Ident || tokens[open-1].Text == "in" {
		return nil
	}
	name := tokens[open-1]
	first := lex.Operand(tokens, open-1)
	v := p.cursor(text[:name.Start])
	if v == nil || first < 0 {
		return nil
	}
	c := &Call{Name: name.Text, Start: name.Start, Argument: argument}
	functions := p.functions()
	if whole := string(text[tokens[first].Start:name.End]); v.env.Functions()[whole] != nil && first < open-1 {
		c.Name, c.Start, first = whole, tokens[first].Start, open-1
	}
	of, _, _ := read(v.above(0))
	var t *cel.Type
	if first < open-1 && of != nil {
		t = v.typeOf(of)
	}
	member := first < open-1
	c.Function = functions.of(c.Name, v.env, func(o *decls.OverloadDecl) bool {
		return callable(c.Name, v.env.Functions()[c.Name]) && o.IsMemberFunction() == member && (t == nil || accepts(o.ArgTypes()[0], t))
	}, func(m cel.Macro) bool {
		return m.IsReceiverStyle() == member && (t == nil || loopable(t, m.Function()))
	})
	if len(c.Function.Forms) == 0 {
		return nil
	}
	for i, form := range c.Function.Forms {
		if argument < len(form.Parameters) {
			c.Form = i
			break
		}
	}
	return c
}

// openCall is the innermost bracket of a call that the tokens end in, and the number
// of commas behind it; -1 for none.
func openCall(tokens []lex.Token) (open, commas int) {
	depth := 0
	for i := len(tokens) - 1; i >= 0; i-- {
		depth += lex.Depth(tokens[i])
		switch {
		case depth == 0 && tokens[i].Text == ",":
			commas++
		case depth > 0 && tokens[i].Text == "(" && i > 0 && lex.EndsOperand(tokens[i-1]) && tokens[i-1].Kind == lex.Ident:
			return i, commas
		case depth > 0: // a list, a map or plain brackets
			depth, commas = 0, 0
		}
	}
	return -1, 0
}
