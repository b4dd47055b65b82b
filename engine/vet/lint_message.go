package vet

import (
	"fmt"
	"math"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/types"
)

// messageLimits finds messageExpressions that can exceed a limit at run time. The server then uses
// message instead, or stops the validation.
func messageLimits(r *rule) string {
	m := r.message
	if m == nil || m.rejected {
		return ""
	}
	if m.cost.Max > celconfig.PerCallLimit {
		return fmt.Sprintf("messageExpression may cost %s units, but one evaluation may cost only %s; over this limit, the server stops all validation: remove unbounded values, or set bounds for them", phrase.Number(m.cost.Max), phrase.Number(celconfig.PerCallLimit))
	}
	w := newPathWalk(r, m)
	if n := length(w, m.ast.NativeRep().Expr()); n > celconfig.MaxEvaluatedMessageExpressionSizeBytes {
		size := "of any length"
		if n < math.MaxInt64 {
			size = fmt.Sprintf("of up to %s bytes", phrase.Number(uint64(n)))
		}
		return fmt.Sprintf("messageExpression can produce a string %s, but only %s bytes are allowed; over this limit, the server shows the message instead: remove long values, or set bounds for them", size, phrase.Number(celconfig.MaxEvaluatedMessageExpressionSizeBytes))
	}
	return ""
}

// length returns the greatest length in bytes that a string can have. Unknown calls count as 0.
func length(w *pathWalk, e ast.Expr) int64 {
	switch e.Kind() {
	case ast.LiteralKind:
		if s, ok := e.AsLiteral().(celtypes.String); ok {
			return int64(len(s))
		}
	case ast.CallKind:
		call := e.AsCall()
		args := call.Args()
		switch call.FunctionName() {
		case operators.Add:
			return sum(length(w, args[0]), length(w, args[1]))
		case operators.Conditional:
			return max(length(w, args[1]), length(w, args[2]))
		case "string":
			return length(w, args[0])
		case "join":
			return joined(w, call)
		}
	}
	if at := w.pathOf(e); at != nil {
		switch at.decl.Kind {
		case types.String, types.IntOrString:
			return size(at.decl)
		}
	}
	return 0
}

func size(d *types.Decl) int64 {
	if d.Max.Source == types.Assumed {
		return math.MaxInt64
	}
	return d.Max.Max
}

func joined(w *pathWalk, call ast.CallExpr) int64 {
	if !call.IsMemberFunction() {
		return 0
	}
	list := w.pathOf(call.Target())
	if list == nil || list.decl.Kind != types.List || list.decl.Elem.Kind != types.String {
		return 0
	}
	items, each := size(list.decl), size(list.decl.Elem)
	if items == math.MaxInt64 || each == math.MaxInt64 {
		return math.MaxInt64
	}
	return items * each
}

func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
