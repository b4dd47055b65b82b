package vet

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/engine/internal/notation"
	"github.com/celadon-cel/celadon/types"
)

// fixMinors holds the minor versions from which new rules can use the functions of a kind. The functions
// of other kinds are older than all supported versions.
var fixMinors = map[notation.Kind]int{notation.Quantity: 29, notation.Version: 34}

// fix returns an expression that compares the values, or "" if CEL has no function for it.
// Quantities and versions are guarded against other text; other functions fail on it.
func (c *textComparison) fix() string {
	a, b := c.value(&c.a), c.value(&c.b)
	if a == "" {
		return ""
	}
	op, _ := operators.FindReverse(c.op)
	plain := c.kind == notation.Duration || c.kind == notation.Timestamp || c.kind == notation.Integer
	var test string
	switch {
	case c.op == operators.In:
		test = c.oneOf(a)
	case plain:
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

// oneOf returns a test whether a has the value of a string in the list.
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

// guarded returns the test with a test of each field that may hold other text.
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

// guard returns a test whether an operand represents a value, or "" if it always does, or if CEL has
// no such test.
func (c *textComparison) guard(o *textOperand) string {
	if o.path == nil || c.certain(o) {
		return ""
	}
	switch c.kind {
	case notation.Quantity:
		return "isQuantity(" + o.string() + ")"
	case notation.Version:
		return "isSemver(" + o.string() + ", true)"
	}
	return ""
}

func (c *textComparison) mayFail() bool {
	if c.kind == notation.Quantity || c.kind == notation.Version {
		return false
	}
	return c.a.path != nil && !c.certain(&c.a) || c.b.path != nil && !c.certain(&c.b)
}

// certain reports whether the enum of a field has only values of the kind.
func (c *textComparison) certain(o *textOperand) bool {
	list, ok := enum(o.path)
	if !ok {
		return false
	}
	for _, text := range list {
		if !c.kind.Parses(text) {
			return false
		}
	}
	return true
}

// string returns an expression of type string.
func (o *textOperand) string() string {
	if o.path != nil && o.path.decl.Kind == types.IntOrString {
		return "string(" + o.source + ")"
	}
	return o.source
}

// value returns an expression for the value of an operand, or "" if CEL has no function for it.
func (c *textComparison) value(o *textOperand) string {
	switch c.kind {
	case notation.Quantity:
		return "quantity(" + o.string() + ")"
	case notation.Version:
		return "semver(" + o.string() + ", true)"
	case notation.Duration:
		return "duration(" + o.string() + ")"
	case notation.Timestamp:
		return "timestamp(" + o.string() + ")"
	case notation.Integer:
		if o.path != nil {
			return "int(" + o.source + ")"
		}
		if n, err := strconv.ParseInt(o.literal, 10, 64); err == nil {
			return strconv.FormatInt(n, 10)
		}
		return "int(" + o.source + ")"
	}
	return ""
}
