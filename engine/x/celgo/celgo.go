// Package celgo compiles expressions to cel-go's types, for programs that plan or inspect them with
// cel-go. No other package of the public API has cel-go's types, so that it does not change when
// they do; this one follows the linked release of cel-go.
package celgo

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine/x/celcost"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/types"
)

// Compile parses and checks an expression as a server of version v does for a stored rule. self and oldSelf are
// declared as d; if optionalOldSelf is set, oldSelf is an optional of it. Compile also returns the environment in which
// to plan the expression. [Value] returns values for it.
//
// The error is types.ErrHidden if d has no CEL type.
func Compile(v types.Version, d *types.Decl, optionalOldSelf bool, src string) (*cel.Env, *cel.Ast, error) {
	return celenv.StoredRules(v).Compile(d, optionalOldSelf, src)
}

// Type returns the CEL type of d, or nil if d is hidden. All objects have the same type, "object".
func Type(d *types.Decl) *cel.Type { return celenv.CELType(d) }

// Value returns a decoded JSON value as the CEL value that its declaration defines. It does not copy
// v, so v must not change while the result is in use. If v does not match the declaration, Value
// returns a CEL error with the API server's message.
func Value(v any, d *types.Decl) ref.Val { return celvalue.New(v, d) }

// JSON returns a CEL value in the form of decoded JSON, as an object would contain it: durations and
// timestamps become strings, bytes become base64, and an optional becomes its value or nil. Values
// that JSON cannot represent become strings.
func JSON(v ref.Val) any { return expr.Native(v) }

// Estimate returns the cost, in CEL cost units, that a server of version v estimates for one
// evaluation of a checked expression whose self is declared as d.
func Estimate(v types.Version, checked *cel.Ast, d *types.Decl) cost.Estimate {
	return celcost.For(v).Of(checked, d)
}
