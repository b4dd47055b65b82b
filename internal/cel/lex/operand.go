package lex

// Operand returns the index of the first token of the operand that ends at tokens[last], or -1 if
// no operand ends there. An operand is a name, a literal, or a bracketed expression, with its
// calls, indexes, and fields; it has no operators outside brackets.
func Operand(tokens []Token, last int) int {
	for i := last; i >= 0; i-- {
		t := tokens[i]
		switch {
		case Depth(t) < 0:
			if i = Opening(tokens, i); i < 0 {
				return -1
			}
			if i > 0 && (tokens[i].Text == "(" || tokens[i].Text == "[" || tokens[i].Text == "[?") && EndsOperand(tokens[i-1]) && adjacent(tokens[i-1], tokens[i]) {
				continue // a call or an index: continue with its target
			}
		case t.Kind == Operator || t.Kind == Comment:
			return -1
		}
		if i == 0 || tokens[i-1].Text != "." && tokens[i-1].Text != ".?" {
			return i
		}
		i--
	}
	return -1
}

// EndsOperand reports whether the bracket of a call or an index can follow t.
func EndsOperand(t Token) bool {
	return t.Kind == Ident && t.Text != "in" || t.Kind == String || t.Text == ")" || t.Text == "]" || t.Text == "}"
}

func adjacent(a, b Token) bool { return a.End == b.Start }

// Opening returns the index of the bracket that the closing bracket tokens[i] closes, or -1. It returns i for a token
// that is not a bracket.
func Opening(tokens []Token, i int) int {
	depth := 0
	for ; i >= 0; i-- {
		if depth += Depth(tokens[i]); depth == 0 {
			return i
		}
	}
	return -1
}
