package policyvet

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
)

// quantityText matches a quantity with a unit, as people write them.
var quantityText = lazy.New(`^[0-9]+(\.[0-9]+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)$`)

// maxQuantity limits the length of such a quantity, because its text is untrusted.
const maxQuantity = 32

// orders has the operators that order their operands, with their form for quantities.
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

// textOrders reports comparisons of a field with a quantity that order them as text.
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
		call, source := found.AsCall(), lex.NewSource(x.source, x.parsed)
		left, right := source.Of(call.Args()[0]), source.Of(call.Args()[1])
		if fix := fmt.Sprintf(orders[call.FunctionName()].format, left, right); left != "" && right != "" && l.version.Minor >= quantitySince {
			message += ": write " + lex.Flat(fix)
		}
		add(textOrder, x.at(found), message)
	}
}

// quantitySince is the first minor with quantity().
const quantitySince = 29

// textOrderExample returns two quantities that a comparison orders otherwise than as quantities, or "" if it does not
// compare a field with a quantity.
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
