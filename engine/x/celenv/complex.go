package celenv

import (
	"fmt"
	"math"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/types"
)

// A ComplexError reports that an expression was not parsed or checked because that would take too
// long, or that the errors of invalid expressions reach their limit. The time of cel-go's checker
// grows with the square of the number of calls with generic types, with the square of the depth of
// macros, and with the cube of the depth of lists. It triples with each map whose keys can be maps:
// in [1].map(a, {a: a}).map(b, {b: b}), each macro doubles the item type. An API server would run
// for minutes.
type ComplexError struct {
	Generic, Depth int
	// flood is the parser's error if the expression was not parsed.
	flood error
	// invalid is the number of invalid expressions before this one if their errors took too much work.
	invalid int
}

func (e *ComplexError) Error() string {
	if e.flood != nil {
		return "a rule is too complex to be parsed: " + e.flood.Error()
	}
	if e.invalid > 0 {
		return fmt.Sprintf("%d expressions are invalid, and their errors reach the limit: correct these first", e.invalid)
	}
	return fmt.Sprintf("a rule is too complex to be checked: %d generic operators and functions, lists %d deep: split the rule", e.Generic, e.Depth)
}

// Limits on checking time, in units of about a microsecond: for a single expression, and for all expressions compiled
// in a Scope.
const (
	maxComplexity   = 2_000_000
	scopeComplexity = 4_000_000
)

// complexity estimates how long it takes to check e, in units of about a microsecond. err describes
// the complexity for callers that reject e; it is never nil.
func complexity(e ast.Expr) (units int, err *ComplexError) {
	c := counter{generic: genericCalls()}
	c.expr(e, 0)
	units = c.calls*c.calls + c.depth*c.depth*c.depth/5 + c.loops*c.loops/2
	if c.doublings > 0 {
		units += int(math.Pow(3, float64(min(c.doublings, 30))))
	}
	return units, &ComplexError{Generic: c.calls, Depth: c.depth}
}

type counter struct {
	generic      map[string]bool
	calls, depth int
	loops, inner int // maximum and current nesting of macros
	doublings    int // map keys that are not literals
}

func (c *counter) expr(e ast.Expr, depth int) {
	c.depth = max(c.depth, depth)
	switch e.Kind() {
	case ast.CallKind:
		if c.generic[e.AsCall().FunctionName()] {
			c.calls++
		}
	case ast.ListKind, ast.StructKind:
		depth++
	case ast.MapKind:
		depth++
		for _, entry := range e.AsMap().Entries() {
			if entry.AsMapEntry().Key().Kind() != ast.LiteralKind {
				c.doublings++
			}
		}
	case ast.ComprehensionKind:
		c.inner++
		c.loops = max(c.loops, c.inner)
		defer func() { c.inner-- }()
	}
	for _, part := range loops.Children(e) {
		c.expr(part, depth)
	}
}

var genericCalls = sync.OnceValue(func() map[string]bool {
	generic := map[string]bool{}
	for name, fn := range StoredRules(types.Version{Minor: types.Newest}).base.Functions() {
		for _, o := range fn.OverloadDecls() {
			for _, t := range append(o.ArgTypes(), o.ResultType()) {
				generic[name] = generic[name] || isGeneric(t)
			}
		}
	}
	return generic
})

func isGeneric(t *cel.Type) bool {
	if t.Kind() == celtypes.TypeParamKind {
		return true
	}
	for _, p := range t.Parameters() {
		if isGeneric(p) {
			return true
		}
	}
	return false
}
