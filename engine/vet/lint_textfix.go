package vet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/engine/internal/notation"
	"github.com/celadon-cel/celadon/types"
)

// since is the minor version from which new rules can use the functions, if some supported version lacks them.
var functions = map[notation.Kind]struct {
	value, guard string
	since        int
}{
	notation.Quantity:  {"quantity(%s)", "isQuantity(%s)", 29},
	notation.Version:   {"semver(%s, true)", "isSemver(%s, true)", 34},
	notation.Duration:  {value: "duration(%s)"},
	notation.Timestamp: {value: "timestamp(%s)"},
	notation.Integer:   {value: "int(%s)"},
}

// fix returns an expression that compares the values, or "" if CEL has no function for it. Quantities and versions
// are guarded against other text; other functions fail on it.
func (c *textComparison) fix() string {
	a, b := c.value(&c.a), c.value(&c.b)
	if a == "" {
		return ""
	}
	op, _ := operators.FindReverse(c.op)
	var test string
	switch {
	case c.op == operators.In:
		test = c.oneOf(a)
	case functions[c.kind].guard == "":
		test = fmt.Sprintf("%s %s %s", a, op, b)
	case c.op == operators.Less:
		test = fmt.Sprintf("%s.isLessThan(%s)", a, b)
	case c.op == operators.Greater:
		test = fmt.Sprintf("%s.isGreaterThan(%s)", a, b)
	default: // the estimated cost of == is unbounded for quantities
		test = fmt.Sprintf("%s.compareTo(%s) %s 0", a, b, op)
	}
	return c.guarded(test)
}

func (c *textComparison) oneOf(a string) string {
	var list, tests []string
	for _, text := range c.list {
		value := c.value(&textOperand{literal: text, source: strconv.Quote(text)})
		list = append(list, value)
		tests = append(tests, fmt.Sprintf("%s.compareTo(%s) == 0", a, value))
	}
	if c.kind == notation.Duration {
		return fmt.Sprintf("%s in [%s]", a, strings.Join(list, ", "))
	}
	all := strings.Join(tests, " || ")
	if len(tests) > 1 {
		return "(" + all + ")"
	}
	return all
}

func (c *textComparison) guarded(test string) string {
	var guards []string
	for _, o := range []*textOperand{&c.a, &c.b} {
		if guard := c.guard(o); guard != "" {
			guards = append(guards, guard)
		}
	}
	if len(guards) == 0 {
		return test
	}
	all := strings.Join(guards, " && ")
	if c.op != operators.NotEquals {
		return all + " && " + test
	}
	if len(guards) > 1 {
		all = "(" + all + ")"
	}
	return "!" + all + " || " + test
}

func (c *textComparison) guard(o *textOperand) string {
	if o.path == nil || c.certain(o) {
		return ""
	}
	return c.call(functions[c.kind].guard, o)
}

func (c *textComparison) mayFail() bool {
	return functions[c.kind].guard == "" && (c.a.path != nil && !c.certain(&c.a) || c.b.path != nil && !c.certain(&c.b))
}

func (c *textComparison) certain(o *textOperand) bool {
	list, ok := enum(o.path)
	return ok && !slices.ContainsFunc(list, func(text string) bool { return !c.kind.Parses(text) })
}

func (c *textComparison) value(o *textOperand) string {
	if n, err := strconv.ParseInt(o.literal, 10, 64); c.kind == notation.Integer && o.path == nil && err == nil {
		return strconv.FormatInt(n, 10)
	}
	return c.call(functions[c.kind].value, o)
}

func (c *textComparison) call(format string, o *textOperand) string {
	switch {
	case format == "":
		return ""
	case o.path != nil && o.path.decl.Kind == types.IntOrString && c.kind != notation.Integer:
		return fmt.Sprintf(format, "string("+o.source+")")
	}
	return fmt.Sprintf(format, o.source)
}
