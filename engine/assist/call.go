package assist

// Call is the call that a place of an expression stands in the brackets of.
type Call struct {
	Name string
	// Start is the code point where the name stands.
	Start int
	// Function tells of it; its Forms are all ways to call it.
	Function *Function
	// Form is the position of the form that fits best what is there; Argument the
	// argument, from 0, that the place is in: the value that a method is of is none.
	Form, Argument int
}

// Span is a part of a text, in code points.
type Span struct{ Start, End int }

// Call is the innermost call around a code point of an expression, whole or half
// written; nil where there is none, or of nothing that is known.
func (p *Place) Call(src string, at int) *Call { return nil }
