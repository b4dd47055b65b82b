package expr

import (
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/types"
)

// maxReads limits the paths that Reads distinguishes.
const maxReads = 1000

// parsing returns an environment for parsing. It declares no variables.
var parsing = sync.OnceValues(func() (*cel.Env, error) { return celenv.StoredRules(types.Version{Minor: types.Newest}).With(nil) })

// Reads returns the paths of fields below self and oldSelf on which the value of an expression may depend. The
// expression may also depend on anything below these paths. An empty path means the whole value.
func Reads(src string) [][]string {
	env, err := parsing()
	if err != nil {
		return [][]string{{}}
	}
	parsed, err := celenv.Parse(env, src)
	if err != nil {
		return [][]string{{}}
	}
	r := &reader{}
	r.expr(parsed.NativeRep().Expr())
	if len(r.paths) > maxReads {
		return [][]string{{}}
	}
	return r.paths
}

type reader struct{ paths [][]string }

func (r *reader) expr(e ast.Expr) {
	if path, ok := selection(e); ok {
		if len(r.paths) <= maxReads {
			r.paths = append(r.paths, path)
		}
		return
	}
	for _, child := range ast.NavigateExpr(nil, e).Children() {
		r.expr(child)
	}
}

// selection returns the path of fields that an expression selects from self or oldSelf. ok is false if the
// expression is anything else.
func selection(e ast.Expr) (path []string, ok bool) {
	for {
		var field string
		switch e.Kind() {
		case ast.IdentKind:
			slices.Reverse(path)
			return path, e.AsIdent() == types.Self || e.AsIdent() == types.OldSelf
		case ast.SelectKind:
			field, e = e.AsSelect().FieldName(), e.AsSelect().Operand()
		case ast.CallKind:
			call := e.AsCall()
			if call.FunctionName() != operators.OptSelect || len(call.Args()) != 2 || call.Args()[1].Kind() != ast.LiteralKind {
				return nil, false
			}
			if field, ok = call.Args()[1].AsLiteral().Value().(string); !ok {
				return nil, false
			}
			e = call.Args()[0]
		default:
			return nil, false
		}
		if field, ok = types.Unescape(field); !ok {
			return nil, false
		}
		path = append(path, field)
	}
}
