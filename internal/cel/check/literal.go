package check

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/overloads"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
)

// Takes is true of a text in an expression that matches, duration or timestamp surely
// takes, as a pattern or to convert it. Where it is false, cel-go has to be asked.
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
