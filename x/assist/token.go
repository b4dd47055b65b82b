package assist

import (
	"github.com/celadon-cel/celadon/internal/cel/lex"
)

// Class is the role of a token, for syntax highlighting and completion.
type Class uint8

// The classes. ClassWord is for true, false, and null; in is a ClassOperator. Unclosed brackets and
// text that is not CEL are ClassOperator as well.
const (
	ClassOperator Class = iota
	ClassBracket
	ClassVariable
	ClassField
	ClassFunction
	ClassMethod
	ClassMacro
	ClassWord
	ClassNumber
	ClassText
	ClassComment
)

// Token is a token of an expression. Start and End count code points.
type Token struct {
	Start, End int
	Class      Class
}

// Tokens returns the tokens of an expression in order, without white space. src may be incomplete.
func Tokens(src string) []Token {
	tokens := lex.Tokens([]rune(src))
	out := make([]Token, len(tokens))
	for i, t := range tokens {
		out[i] = Token{t.Start, t.End, classOf(tokens, i)}
	}
	return out
}

func classOf(tokens []lex.Token, i int) Class {
	t := tokens[i]
	switch t.Kind {
	case lex.String:
		return ClassText
	case lex.Number:
		return ClassNumber
	case lex.Comment:
		return ClassComment
	case lex.Operator:
		if lex.Depth(t) != 0 {
			return ClassBracket
		}
		return ClassOperator
	}
	member := i > 0 && (tokens[i-1].Text == "." || tokens[i-1].Text == ".?")
	call := i+1 < len(tokens) && tokens[i+1].Text == "("
	switch {
	case call && (IsLoop(t.Text) && member || t.Text == "has" && !member):
		return ClassMacro
	case call && member:
		return ClassMethod
	case call && t.Text != "in":
		return ClassFunction
	case member:
		return ClassField
	case t.Text == "in":
		return ClassOperator
	case t.Text == "true" || t.Text == "false" || t.Text == "null":
		return ClassWord
	}
	return ClassVariable
}
