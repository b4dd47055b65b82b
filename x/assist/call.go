package assist

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/decls"

	"github.com/celadon-cel/celadon/internal/cel/lex"
)

// Call is the function or macro call whose parentheses enclose a position in an expression.
type Call struct {
	Name string
	// Start is the code point at which the name starts.
	Start int
	// Function holds the forms that match the kind of call. If the receiver's type is known, the
	// forms of a method are those that accept it.
	Function *Function
	// Form is the index of the first form that has enough parameters, and Argument the index of the
	// argument at the position. Both count from 0; a method's receiver is not an argument.
	Form, Argument int
}

// Span is a half-open range of code points in a text.
type Span struct{ Start, End int }

// Call returns the innermost call that encloses code point at of src, which may be incomplete. It
// returns nil if no such call exists or the function is unknown.
func (p *Context) Call(src string, at int) *Call {
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

// openCall returns the index of the opening parenthesis of the innermost call that is still open
// after the last token, and the number of commas that follow at its level. It returns -1 if no call
// is open.
func openCall(tokens []lex.Token) (open, commas int) {
	depth := 0
	for i := len(tokens) - 1; i >= 0; i-- {
		depth += lex.Depth(tokens[i])
		switch {
		case depth == 0 && tokens[i].Text == ",":
			commas++
		case depth > 0 && tokens[i].Text == "(" && i > 0 && lex.EndsOperand(tokens[i-1]) && tokens[i-1].Kind == lex.Ident:
			return i, commas
		case depth > 0: // a list, a map, or grouping parentheses
			depth, commas = 0, 0
		}
	}
	return -1, 0
}
