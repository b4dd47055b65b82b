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
	if variable, path := selection(e); variable == types.Self || variable == types.OldSelf {
		if len(r.paths) <= maxReads {
			r.paths = append(r.paths, path)
		}
		return
	}
	for _, child := range ast.NavigateExpr(nil, e).Children() {
		r.expr(child)
	}
}

// readsMetadata reports whether an expression at the root of an object may depend on fields of metadata
// that its type does not have: it uses self or self.metadata as a whole, as in dyn(self.metadata).
func readsMetadata(e ast.Expr) bool {
	if variable, path := selection(e); variable == types.Self {
		return len(path) == 0 || len(path) == 1 && path[0] == "metadata"
	}
	return slices.ContainsFunc(ast.NavigateExpr(nil, e).Children(), func(child ast.NavigableExpr) bool { return readsMetadata(child) })
}

// selection returns the variable and the path of the fields that an expression selects from it. variable is "" if the
// expression is anything else.
func selection(e ast.Expr) (variable string, path []string) {
	for {
		var field string
		switch e.Kind() {
		case ast.IdentKind:
			slices.Reverse(path)
			return e.AsIdent(), path
		case ast.SelectKind:
			field, e = e.AsSelect().FieldName(), e.AsSelect().Operand()
		case ast.CallKind:
			call := e.AsCall()
			if call.FunctionName() != operators.OptSelect || len(call.Args()) != 2 || call.Args()[1].Kind() != ast.LiteralKind {
				return "", nil
			}
			field, _ = call.Args()[1].AsLiteral().Value().(string)
			e = call.Args()[0]
		default:
			return "", nil
		}
		field, ok := types.Unescape(field)
		if !ok {
			return "", nil
		}
		path = append(path, field)
	}
}
