package types

import (
	"fmt"
	"math"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
)

// ComplexError means that an expression was not checked: cel-go's checker takes
// time by the square of the calls whose types depend on their arguments' and of
// the depth of macros, by the cube of the depth of lists, and three times as much
// for each map whose keys can be maps: [1].map(a, {a: a}).map(b, {b: b}), and so on,
// doubles the items' type with each macro. A server goes on for minutes.
type ComplexError struct {
	Generic, Depth int
	// flood is why an expression was not even parsed.
	flood error
}

func (e *ComplexError) Error() string {
	if e.flood != nil {
		return "a rule is too complex to be parsed: " + e.flood.Error()
	}
	return fmt.Sprintf("a rule is too complex to be checked: %d operators and functions of any type, lists %d deep: split the rule", e.Generic, e.Depth)
}

// The limits are in what checking takes, about a microsecond a unit: of one
// expression, and of all that a Scope compiles. What real rules have is a
// hundred times below.
const (
	maxComplexity   = 2_000_000
	scopeComplexity = 4_000_000
)

// complexity is what checking a parsed expression may take.
func complexity(e ast.Expr) (units int, err *ComplexError) {
	c := counter{generic: genericCalls()}
	c.expr(e, 0)
	units = c.calls*c.calls + c.depth*c.depth*c.depth/5 + c.loops*c.loops/2
	if c.doublings > 0 {
		units += int(math.Pow(3, float64(min(c.doublings, 30))))
	}
	return units, &ComplexError{Generic: c.calls, Depth: c.depth}
}

// counter counts what makes checking slow.
type counter struct {
	generic      map[string]bool
	calls, depth int
	loops, inner int // macros inside each other, at most and now
	doublings    int // map literals with keys of any type
}

// expr goes through an expression that stands inside so many literals.
func (c *counter) expr(e ast.Expr, depth int) {
	c.depth = max(c.depth, depth)
	switch e.Kind() {
	case ast.CallKind:
		call := e.AsCall()
		if c.generic[call.FunctionName()] {
			c.calls++
		}
		if call.IsMemberFunction() {
			c.expr(call.Target(), depth)
		}
		for _, arg := range call.Args() {
			c.expr(arg, depth)
		}
	case ast.SelectKind:
		c.expr(e.AsSelect().Operand(), depth)
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			c.expr(item, depth+1)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			if entry.AsMapEntry().Key().Kind() != ast.LiteralKind {
				c.doublings++
			}
			c.expr(entry.AsMapEntry().Key(), depth+1)
			c.expr(entry.AsMapEntry().Value(), depth+1)
		}
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			c.expr(field.AsStructField().Value(), depth+1)
		}
	case ast.ComprehensionKind:
		m := e.AsComprehension()
		c.inner++
		c.loops = max(c.loops, c.inner)
		for _, part := range []ast.Expr{m.IterRange(), m.AccuInit(), m.LoopCondition(), m.LoopStep(), m.Result()} {
			c.expr(part, depth)
		}
		c.inner--
	}
}

// genericCalls are the functions with an overload whose types depend on those
// of its arguments.
var genericCalls = sync.OnceValue(func() map[string]bool {
	generic := map[string]bool{}
	for name, fn := range StoredEnv(Version{Newest}).base.Functions() {
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
