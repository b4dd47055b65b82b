package vet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
)

// The server's compiler does not find a call of these functions that fails for a literal.
var parsers = []string{"quantity", "semver", "ip", "cidr", "url"}

func failingLiteral(in *inspection) (found *Lint) {
	ast.PreOrderVisit(in.expr.ast.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if found != nil {
			return
		}
		op, args := operation(e)
		switch {
		case op == operators.Divide || op == operators.Modulo:
			if zero := args[1].AsLiteral(); zero == celtypes.IntZero || zero == celtypes.Uint(0) {
				found = &Lint{Message: fmt.Sprintf("%s always fails: the divisor is 0", in.source().Of(e))}
			}
		case slices.Contains(parsers, op):
			found = in.literalProblem(e, args)
		}
	}))
	return found
}

func (in *inspection) literalProblem(e ast.Expr, args []ast.Expr) *Lint {
	text, ok := args[0].AsLiteral().(celtypes.String)
	if !ok || slices.ContainsFunc(args, func(arg ast.Expr) bool { return arg.Kind() != ast.LiteralKind }) {
		return nil
	}
	call := in.source().Of(e)
	err := in.failure(call)
	if err == nil {
		return nil
	}
	p := &Lint{Message: fmt.Sprintf("%s always fails: %v", call, err)}
	for _, better := range corrections(e.AsCall().FunctionName(), string(text)) {
		to := strings.Replace(call, in.source().Of(args[0]), fmt.Sprintf("%q", better), 1)
		if to == call || in.failure(to) != nil {
			continue
		}
		if edit, ok := in.replaced(e, to); ok {
			p.Fix = in.fixed(edit)
		}
		p.Message += "; write " + to
		break
	}
	return p
}

// The expression must read nothing. failure returns nil if the expression does not compile.
func (in *inspection) failure(src string) error {
	env, checked, err := in.expr.base.Compile(in.expr.key.Decl, in.expr.key.Optional, "dyn("+src+") != null")
	if err != nil {
		return nil
	}
	return run(env, checked, in.expr.key.Decl).Err
}

// The spellings need not be valid.
func corrections(function, text string) []string {
	joined := strings.ReplaceAll(text, " ", "")
	switch function {
	case "quantity":
		bare := strings.TrimSuffix(joined, "B")
		return []string{joined, bare, strings.Replace(bare, "K", "k", 1)}
	case "semver":
		bare := strings.TrimPrefix(joined, "v")
		return []string{joined, bare, bare + ".0", bare + ".0.0"}
	}
	return []string{joined}
}
