package check

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/overloads"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
)

// Takes reports whether literal is a string that is a valid argument of function, which is matches,
// duration, or timestamp. If it returns false, cel-go must check the literal.
func Takes(function string, literal ast.Expr) bool {
	if literal.Kind() != ast.LiteralKind {
		return false
	}
	text, ok := literal.AsLiteral().(celtypes.String)
	if !ok {
		return false
	}
	switch function {
	case overloads.Matches:
		return regexcost.Valid(string(text))
	case overloads.TypeConvertDuration:
		return !celtypes.IsError(text.ConvertToType(celtypes.DurationType))
	case overloads.TypeConvertTimestamp:
		return !celtypes.IsError(text.ConvertToType(celtypes.TimestampType))
	}
	return false
}
