package policyvet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
)

var quantityText = lazy.New(`^[0-9]+(\.[0-9]+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)$`)

// maxQuantity limits the length of a quantity, because it comes from an untrusted policy.
const maxQuantity = 32

var orders = map[string]struct {
	symbol string
	holds  func(compared int) bool
	format string
}{
	operators.Less:          {"<", func(c int) bool { return c < 0 }, "quantity(%s).isLessThan(quantity(%s))"},
	operators.LessEquals:    {"<=", func(c int) bool { return c <= 0 }, "quantity(%s).compareTo(quantity(%s)) <= 0"},
	operators.Greater:       {">", func(c int) bool { return c > 0 }, "quantity(%s).isGreaterThan(quantity(%s))"},
	operators.GreaterEquals: {">=", func(c int) bool { return c >= 0 }, "quantity(%s).compareTo(quantity(%s)) >= 0"},
}

func (l *linter) textOrders(s *subject, add reporter) {
	for _, x := range s.expressions {
		if x.tree == nil {
			continue
		}
		var found ast.Expr
		visit(x.tree, func(e ast.Expr) {
			if found == nil && e.Kind() == ast.CallKind && orders[e.AsCall().FunctionName()].symbol != "" && textOrderExample(e) != "" {
				found = e
			}
		})
		if found == nil {
			continue
		}
		message := textOrderExample(found)
		call, source := found.AsCall(), lex.NewSource(x.Source, x.parsed)
		left, right := source.Of(call.Args()[0]), source.Of(call.Args()[1])
		if fix := fmt.Sprintf(orders[call.FunctionName()].format, left, right); left != "" && right != "" && l.version.Minor >= quantitySince {
			message += ": write " + lex.Flat(fix)
		}
		add(textOrder, x.at(found), message)
	}
}

const quantitySince = 29

// textOrderExample describes two quantities that a comparison orders wrongly, because it compares them as strings, or
// returns "".
func textOrderExample(e ast.Expr) string {
	order, args := orders[e.AsCall().FunctionName()], e.AsCall().Args()
	for i, arg := range args {
		literal, ok := text(arg)
		if _, _, test, isField := field(args[1-i]); !ok || !isField || test || len(literal) > maxQuantity || !quantityText.MatchString(literal) {
			continue
		}
		bound, err := resource.ParseQuantity(literal)
		if err != nil {
			continue
		}
		for _, example := range []string{"10Gi", "900Mi", "1Ti", "1500m", "10", "9", "100m"} {
			q := resource.MustParse(example)
			asText, asQuantity := strings.Compare(example, literal), q.Cmp(bound)
			x, y := example, literal
			if i == 0 {
				asText, asQuantity, x, y = -asText, -asQuantity, y, x
			}
			if order.holds(asText) != order.holds(asQuantity) {
				return fmt.Sprintf("quantities are compared as text: '%s' %s '%s' is %t", x, order.symbol, y, order.holds(asText))
			}
		}
	}
	return ""
}

// unitTests lists functions that can distinguish quantities with a unit.
var unitTests = map[string]bool{
	"endsWith": true, "matches": true, "contains": true, "isQuantity": true, "isInteger": true, "find": true, "findAll": true,
	"indexOf": true, "lastIndexOf": true, "substring": true, "charAt": true, "split": true, "replace": true,
}

// quantityNumbers reports conversions of quantities to numbers, such as int(c.resources.limits.cpu), which fail for
// quantities with a unit. Policies that test for units are not reported.
func (l *linter) quantityNumbers(s *subject, add reporter) {
	kinds, _ := l.schemas.matched(&s.match)
	testsUnits := slices.ContainsFunc(s.expressions, func(x *expression) (does bool) {
		if x.tree != nil {
			visit(x.tree, func(e ast.Expr) { does = does || e.Kind() == ast.CallKind && unitTests[e.AsCall().FunctionName()] })
		}
		return does
	})
	for _, x := range s.expressions {
		if x.tree == nil || l.version.Minor < quantitySince || testsUnits {
			continue
		}
		var found ast.Expr
		visit(x.tree, func(e ast.Expr) {
			if e.Kind() != ast.CallKind {
				return
			}
			name, args := e.AsCall().FunctionName(), e.AsCall().Args()
			isNumber := (name == "int" || name == "double") && len(args) == 1
			if found == nil && isNumber && l.isQuantity(kinds, s.paths[node{x, args[0].ID()}]) {
				found = e
			}
		})
		if found == nil {
			continue
		}
		call, source := found.AsCall(), lex.NewSource(x.Source, x.parsed)
		of := lex.Flat(source.Of(call.Args()[0]))
		add(quantityNumber, x.at(found), fmt.Sprintf("%[1]s('500m') and %[1]s('16Gi') fail, although they are quantities: "+
			"compare quantity(%[2]s) by compareTo(), isLessThan(), or isGreaterThan()", call.FunctionName(), of))
	}
}

// isQuantity reports whether all paths are quantities in a built-in kind: the values of a map whose schema is an integer
// or a string, such as limits.
func (l *linter) isQuantity(kinds []matchedKind, paths []string) bool {
	return len(paths) > 0 && slices.ContainsFunc(kinds, func(k matchedKind) bool {
		return k.kind != nil && k.builtIn && l.schemas.declare(k.kind) != nil && !slices.ContainsFunc(paths, func(path string) bool {
			f := k.resolve(path)
			return f.state != mapKey || !f.property.XIntOrString
		})
	})
}
