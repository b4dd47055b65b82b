package policy

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/internal/text/spell"
)

const (
	maxNames = 1000
	// maxLonger limits how much longer or shorter a suggested key is: initContainers is not a misspelled containers.
	maxLonger = 2
)

// hint describes how to avoid the error of a part, or returns "". e may be nil.
func (c *valueCollector) hint(e ast.Expr, problem string) string {
	if e == nil {
		return ""
	}
	if strings.HasPrefix(problem, "no such overload") && e.Kind() == ast.CallKind {
		return c.overloadHint(e.AsCall())
	}
	name, ok := strings.CutPrefix(problem, "no such key: ")
	for ok {
		var of ast.Expr
		key, test := "", "test has(%[1]s.%[2]s) first, or use %[1]s.?%[2]s.orValue(…)"
		switch {
		case e.Kind() == ast.SelectKind:
			of, key = e.AsSelect().Operand(), e.AsSelect().FieldName()
		case e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Index && e.AsCall().Args()[1].Kind() == ast.LiteralKind:
			of, key = e.AsCall().Args()[0], fmt.Sprint(e.AsCall().Args()[1].AsLiteral().Value())
			test = "test '%[2]s' in %[1]s first, or use %[1]s[?'%[2]s'].orValue(…)"
		default:
			return ""
		}
		if key == name {
			if hint, known := c.keyHint(of, name, test); known {
				return hint
			}
		}
		e = of
	}
	return ""
}

// keyHint describes how to read a key that a map does not have. hint is only valid if known is set.
func (c *valueCollector) keyHint(of ast.Expr, name, test string) (hint string, known bool) {
	text := c.source.Of(of)
	switch in := c.value(of).(type) {
	case celtypes.Null:
		return text + " is null: compare it with null first", true
	case traits.Mapper:
		var names []string
		for it := in.Iterator(); it.HasNext() == celtypes.True && len(names) < maxNames; {
			if key, ok := it.Next().(celtypes.String); ok {
				names = append(names, string(key))
			}
		}
		if name == "metadata" && c.connects != "" && (text == "object" || text == "oldObject") {
			return fmt.Sprintf("the object of the connection is a %s, which has no metadata: use request.name and request.namespace", c.connects), true
		}
		hint = fmt.Sprintf(test, text, name)
		if near := spell.Nearest(name, names); near != "" && len(name) > 2 && max(len(near)-len(name), len(name)-len(near)) <= maxLonger {
			hint += "; or did you mean " + near + "?"
		}
		return hint, text != ""
	}
	return "", false
}

func (c *valueCollector) overloadHint(call ast.CallExpr) string {
	args := call.Args()
	if call.IsMemberFunction() {
		args = append([]ast.Expr{call.Target()}, args...)
	}
	var names []string
	for _, arg := range args {
		v := c.value(arg)
		if v == nil || celtypes.IsError(v) {
			return ""
		}
		names = append(names, v.Type().TypeName())
	}
	name, isOperator := operators.FindReverse(call.FunctionName())
	if !isOperator {
		name = call.FunctionName()
	}
	return fmt.Sprintf("%s does not take %s", name, strings.Join(names, " and "))
}
