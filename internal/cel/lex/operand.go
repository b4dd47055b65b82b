package lex

// Operand is the first token of the operand that ends at tokens[last]; -1
// where none does. It knows no operators: what is in brackets, or calls and
// fields of it, is an operand.
func Operand(tokens []Token, last int) int {
	for i := last; i >= 0; i-- {
		t := tokens[i]
		switch {
		case Depth(t) < 0:
			if i = opening(tokens, i); i < 0 {
				return -1
			}
			if i > 0 && (tokens[i].Text == "(" || tokens[i].Text == "[" || tokens[i].Text == "[?") && EndsOperand(tokens[i-1]) && adjacent(tokens[i-1], tokens[i]) {
				continue // a call or an index: what it is of comes before
			}
		case t.Kind == Operator || t.Kind == Comment:
			return -1
		}
		if i == 0 || tokens[i-1].Text != "." && tokens[i-1].Text != ".?" {
			return i
		}
		i-- // the dot
	}
	return -1
}

// EndsOperand is true for a token that a call's or an index's bracket can follow.
func EndsOperand(t Token) bool {
	return t.Kind == Ident && t.Text != "in" || t.Kind == String || t.Text == ")" || t.Text == "]"
}

func adjacent(a, b Token) bool { return a.End == b.Start }

func opening(tokens []Token, i int) int {
	depth := 0
	for ; i >= 0; i-- {
		if depth += Depth(tokens[i]); depth == 0 {
			return i
		}
	}
	return -1
}
