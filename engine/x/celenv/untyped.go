package celenv

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// How it works: in older versions, a call x.f() of an undeclared function has no type, so the checker
// also reports that no operator and no function accepts it. The linked checker gives it a type that all
// accept. To get the other errors, the expression is checked again with declarations of the undeclared
// functions, which return a type that is unknown otherwise. The operators && and || become functions,
// because the older checker reports their operands like operands of other functions.

// untyped is the type of a call x.f() of an undeclared function. Its name is in the errors.
var untyped = cel.OpaqueType("<nil>")

var logicalFunctions = map[string]string{operators.LogicalAnd: "celadon_and", operators.LogicalOr: "celadon_or"}

func withUntypedCalls(env *cel.Env, src string, issues *cel.Issues) *cel.Issues {
	parsed, err := Parse(env, src)
	if err != nil {
		return issues
	}
	undeclared := undeclaredCalls(issues.Errors())
	extended, err := env.Extend(declarations(parsed.NativeRep().Expr(), undeclared)...)
	if err != nil {
		return issues
	}
	replaceLogical(parsed.NativeRep().Expr())
	_, again, err := checkTree(extended, parsed)
	if err != nil {
		return issues
	}
	var list []*common.Error
	for _, e := range issues.Errors() {
		if undeclared[e.ExprID] != "" {
			list = append(list, e)
		}
	}
	if again != nil {
		for _, e := range again.Errors() {
			if undeclared[e.ExprID] == "" || e.Message != undeclared[e.ExprID] {
				e.Message = olderMessage(e.Message)
				list = append(list, e)
			}
		}
	}
	return cel.NewIssues(common.NewErrors(parsed.Source()).Append(list))
}

func replaceLogical(e ast.Expr) {
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		if name := logicalFunctions[e.AsCall().FunctionName()]; name != "" {
			e.SetKindCase(ast.NewExprFactory().NewCall(e.ID(), name, e.AsCall().Args()...))
		}
	}))
}

func olderMessage(message string) string {
	for operator, name := range logicalFunctions {
		message = strings.Replace(message, "overload for '"+name+"'", "overload for '"+operator+"'", 1)
	}
	if rest, ok := strings.CutPrefix(message, "type '"); ok {
		if name, ok := strings.CutSuffix(rest, "' does not support field selection"); ok {
			return "type '" + protoText(name) + "' does not support field selection"
		}
	}
	return message
}

var protoTypes = map[string]string{
	"bool": "primitive:BOOL", "bytes": "primitive:BYTES", "double": "primitive:DOUBLE", "int": "primitive:INT64", "string": "primitive:STRING",
	"uint": "primitive:UINT64", "google.protobuf.Duration": "well_known:DURATION", "google.protobuf.Timestamp": "well_known:TIMESTAMP", "null": "null:NULL_VALUE",
}

func protoText(name string) string {
	if elem, ok := strings.CutPrefix(name, "list("); ok {
		return "list_type:{elem_type:{" + protoText(strings.TrimSuffix(elem, ")")) + "}}"
	}
	if text := protoTypes[name]; text != "" {
		return text
	}
	return name
}

func undeclaredCalls(errs []*common.Error) map[int64]string {
	messages := map[int64]string{}
	for _, e := range errs {
		if strings.HasPrefix(e.Message, "undeclared reference to ") {
			messages[e.ExprID] = e.Message
		}
	}
	return messages
}

func declarations(e ast.Expr, undeclared map[int64]string) (options []cel.EnvOption) {
	known := map[string]bool{}
	for _, name := range logicalFunctions {
		options = append(options, cel.Function(name, cel.Overload(name, []*cel.Type{cel.BoolType, cel.BoolType}, cel.BoolType)))
	}
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || !e.AsCall().IsMemberFunction() || undeclared[e.ID()] == "" {
			return
		}
		name, n := e.AsCall().FunctionName(), len(e.AsCall().Args())
		id := fmt.Sprintf("untyped_%s_%d", name, n)
		if known[id] {
			return
		}
		known[id] = true
		args := []*cel.Type{cel.TypeParamType("T")}
		for i := range n {
			args = append(args, cel.TypeParamType(fmt.Sprintf("T%d", i)))
		}
		options = append(options, cel.Function(name, cel.MemberOverload(id, args, untyped)))
	}))
	return options
}
