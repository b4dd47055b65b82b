package assist

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
)

const noOverload = "found no matching overload for '"

// overloadOf returns the operator or function that a message is about, and the types to which it is applied, the
// receiver's first. It reports false for another message.
func overloadOf(text string) (name string, types []string, ok bool) {
	match := overloads.FindStringSubmatch(text)
	if match == nil {
		return "", nil, false
	}
	list := strings.TrimPrefix(strings.Replace(strings.TrimSuffix(match[2], ")"), ".(", ", ", 1), "(")
	return match[1], splitTypes(list), true
}

func expectedIn(text string) (want, found string, ok bool) {
	rest, ok := strings.CutPrefix(text, "expected type '")
	want, found, _ = strings.Cut(rest, "' but found '")
	return want, strings.TrimSuffix(found, "'"), ok
}

func (f *fault) overload(text string) string {
	name, types, _ := overloadOf(text)
	switch {
	case strings.Contains(text, ".("):
		return f.method(name, types)
	case f.at(f.token) == "(":
		return function(name, types)
	case name == "_?_:_" && len(types) == 3:
		if kindOf(types[0]) == kindBool {
			return f.as(MixedTypes, choice(types, ""))
		}
		return f.as(NotACondition, choice(types, f.operand(f.token-1, "x")))
	case name == "!_":
		if op := f.at(f.operandEnd(f.token+1) + 1); comparisons[op] {
			return f.as(NotACondition, negatesOnly(f.operandFrom(f.token+1, "x"), op))
		}
		return f.as(NotACondition, asCondition(kindOf(types[0]), f.operandFrom(f.token+1, "x")))
	case len(types) != 2:
		return ""
	}
	a, b := kindOf(types[0]), kindOf(types[1])
	left := f.operand(f.token-1, "x")
	if k := a; k.byMethod() || b.byMethod() {
		if !k.byMethod() {
			k = b
		}
		return f.as(OrderedByMethod, methodHint(k, f.at(f.token)))
	}
	words := f.binary(name, types, left)
	switch {
	case a == kindOptional || b == kindOptional:
		return f.as(OptionalValue, words)
	case f.code == "" && name != "_[_]":
		return f.as(MixedTypes, words)
	}
	return words
}

func (f *fault) binary(name string, types []string, left string) string {
	a, b := kindOf(types[0]), kindOf(types[1])
	for _, index := range f.indexes() {
		if index == left || index == f.operandFrom(f.token+1, "x") {
			return fmt.Sprintf(countsItems, index)
		}
	}
	switch name {
	case "_==_", "_!=_":
		if a == kindBool && f.chained() && f.at(f.token) == "!=" {
			return "comparisons do not chain: use x != 1 && x != 5"
		}
		if b == kindList && f.at(f.token+1) == "[" && a != kindList {
			return f.as(NotACondition, listOfValues)
		}
		next := f.at(f.operandEnd(f.token+1) + 1)
		if chain := next == "==" || next == "!=" || f.chained(); chain && (a == kindBool) != (b == kindBool) {
			return "a == b == c is read from the left: write a == (b == c)"
		}
		if f.at(f.operandFirst(f.token-1)-1) == "!" && a == kindBool && b != kindBool {
			return negatesOnly(left, f.at(f.token))
		}
		if words := f.testCompared(left, a); words != "" {
			return words
		}
		return f.equality(a, b, left)
	case "_<_", "_<=_", "_>_", "_>=_":
		if op := f.at(f.token); a == kindBool && f.chained() {
			return fmt.Sprintf("comparisons do not chain: use 1 %s x && x %s 5", op, op)
		}
		if a == kindString && b == kindInt && durationNames.MatchString(left) {
			return fmt.Sprintf("a duration has a unit: compare duration(%s) with duration('30s')", left)
		}
		return cmp.Or(f.testCompared(left, a), together(a, b, left))
	case "_+_":
		return sum(a, b, left)
	case "_%_":
		return "% takes integers only: convert with int(…)"
	case "_-_", "_*_", "_/_":
		return together(a, b, left)
	case "@in":
		return f.membership(types, left)
	case "_[_]":
		return indexed(a, b, left)
	}
	return ""
}

// testCompared returns a hint for the comparison of a has(), whose text is left, with a value, or "".
func (f *fault) testCompared(left string, a kind) string {
	field, ok := strings.CutPrefix(strings.TrimSuffix(left, ")"), "has(")
	if !ok || a != kindBool {
		return ""
	}
	return fmt.Sprintf("has() is true or false: compare the field itself, has(%s) && %s %s …", field, field, f.at(f.token))
}

const listOfValues = "compare with a list of values: x in ['a', 'b'], or !(x in ['a', 'b'])"

func negatesOnly(of, operator string) string {
	return fmt.Sprintf("! negates only %s: write !(%s %s …) to negate the comparison", of, of, operator)
}

const countsItems = "%s counts the items: of two variables of a macro, the second is the item"

// chained reports whether the operand before the error is also compared.
func (f *fault) chained() bool { return comparisons[f.at(f.operandFirst(f.token-1)-1)] }

func isLiteral(t lex.Token) bool { return t.Kind == lex.String || t.Kind == lex.Number }

func noAlternative(operator, value string) string {
	example := map[string]string{"||": "x == 'a' || x == 'b'", "&&": "x != 'a' && x != 'b'"}[operator]
	return fmt.Sprintf("%s joins conditions, and %s is none: repeat the comparison, %s", operator, value, example)
}

func (f *fault) equality(a, b kind, left string) string {
	if a != kindNull && b != kindNull {
		return together(a, b, left)
	}
	f.code = NeverNull
	field := left
	if a == kindNull {
		field = f.operandFrom(f.token+1, "x")
	}
	if !strings.Contains(field, ".") || strings.HasSuffix(field, "]") || strings.HasSuffix(field, ")") {
		return "this is never null; to test whether a field is present, use has(self.name)"
	}
	if f.at(f.token) == "!=" {
		return "this is never null; to test whether it is present, use has(" + field + ")"
	}
	return "this is never null; to test whether it is absent, use !has(" + field + ")"
}

// operandFrom returns the operand that begins with token i if it consists of names and dots only.
// Otherwise, it returns other.
func (f *fault) operandFrom(i int, other string) string {
	last := i
	for f.at(last+1) == "." && f.isName(last+2) {
		last += 2
	}
	if next := f.at(last + 1); next == "(" || next == "[" || next == ".?" {
		return other // the operand continues
	}
	return f.operand(last, other)
}

// around returns the operand at the error. If that operand is a field selection, the error is at
// its dot.
func (f *fault) around() string {
	if f.at(f.token) == "." {
		return f.operandFrom(f.token+1, "x")
	}
	return f.operandFrom(f.token, "x")
}

func together(a, b kind, left string) string {
	has := func(k kind) bool { return a == k || b == k }
	switch {
	case has(kindOptional):
		return "an optional is not a value: end with .orValue(…), or test .hasValue()"
	case a == b && a != kindInt:
		return ""
	case has(kindInt) && has(kindDouble):
		return "an integer and a double do not mix: write 2 instead of 2.0, or convert with double(…) or int(…)"
	case has(kindString) && has(kindInt):
		return "a string and an integer do not mix: convert with string(…) or int(…), or remove the quotes"
	case has(kindString) && has(kindDouble):
		return "a string and a number do not mix: convert with string(…) or double(…), or remove the quotes"
	case has(kindString) && has(kindBool):
		return "true and false are not strings: remove the quotes"
	case has(kindInt) && has(kindBool):
		return "a condition is true or false, never 1 or 0"
	case has(kindString) && has(kindTime):
		return "convert the string: timestamp('2026-01-02T03:04:05Z')"
	case has(kindString) && has(kindDuration):
		return "convert the string: duration('1h30m')"
	case has(kindInt) && has(kindDuration):
		return "a duration has a unit: duration('30s')"
	case has(kindString) && (constructors[a] != "" || constructors[b] != ""):
		return fmt.Sprintf("convert the string: %s(…)", constructors[a]+constructors[b])
	case a == kindInt && b == kindInt:
		return "an unsigned and a signed integer do not mix: write 2 instead of 2u, or convert with int(…)"
	case (has(kindList) || has(kindMap)) && (has(kindInt) || has(kindDouble)):
		return fmt.Sprintf("use size(%s) for the number of elements", left)
	case (has(kindList) || has(kindMap)) && has(kindString):
		return fmt.Sprintf("use size(%s) == 0 to test whether it is empty, or 'a' in %s", left, left)
	case has(kindObject) && has(kindMap):
		return "an object cannot be compared with { }: test its fields, such as has(self.name)"
	}
	return ""
}

var methodCalls = map[string]string{
	"<": "%s.isLessThan(%s)", ">": "%s.isGreaterThan(%s)", "<=": "%s.compareTo(%s) <= 0", ">=": "%s.compareTo(%s) >= 0",
	"==": "%s.compareTo(%s) == 0", "!=": "%s.compareTo(%s) != 0", "+": "%s.add(%s)", "-": "%s.sub(%s)",
}

func methodHint(k kind, operator string) string {
	example := methodCalls[operator]
	if example == "" || k == kindSemver && (operator == "+" || operator == "-") {
		return fmt.Sprintf("%s is not a valid operand of %s: compare with isLessThan, isGreaterThan, or compareTo", k, operator)
	}
	return fmt.Sprintf("use "+example+" for %s, with both made by %s(…)", "a", "b", operator, constructors[k])
}

func sum(a, b kind, left string) string {
	switch {
	case a == kindString && (b == kindInt || b == kindDouble) || b == kindString && (a == kindInt || a == kindDouble):
		return "+ joins strings only with strings: write '… %s …'.format([…]), because the estimated cost of a CRD's rule has no bound with string(…) of a number"
	case (a == kindString) != (b == kindString) && !slices.Contains([]kind{a, b}, kindOptional):
		return "+ joins strings only with strings: convert the other value with string(…), or write '… %s …'.format([…])"
	case a == kindBool || b == kindBool:
		return "conditions are not numbers: write (a ? 1 : 0) + (b ? 1 : 0), or [a, b].filter(x, x).size()"
	case (a == kindList) != (b == kindList):
		return "+ joins lists only with lists: put the element in [ ]"
	}
	return together(a, b, left)
}

func choice(types []string, left string) string {
	if kindOf(types[0]) != kindBool {
		return asCondition(kindOf(types[0]), left)
	}
	if kindOf(types[1]) == kindObject && kindOf(types[2]) == kindObject {
		return asCondition(kindObject, "")
	}
	return "both values must have the same type: convert one, for example with string(…), or both with dyn(…)"
}

var comparisons = map[string]bool{"==": true, "!=": true, "<": true, "<=": true, ">": true, ">=": true, "in": true}

func asCondition(k kind, text string) string {
	test := text + " != " + zeros[k]
	switch k {
	case kindString, kindInt, kindDouble:
	case kindList, kindMap:
		test = "size(" + text + ") > 0"
	case kindOptional:
		return "an optional is not a condition: use .hasValue(), or end with .orValue(false)"
	case kindObject:
		return "an object is not a condition; to test whether a field is present, use has(self.name)"
	default:
		return ""
	}
	switch {
	case strings.ContainsAny(text, `'"`):
		return string(k) + " is not a condition"
	case strings.Contains(text, "."):
		return fmt.Sprintf("%s is not a condition: use has(%s) if it must be present, or %s", k, text, test)
	}
	return fmt.Sprintf("%s is not a condition: use %s", k, test)
}

func (f *fault) membership(types []string, left string) string {
	in := kindOf(types[1])
	right := f.operandFrom(f.token+1, "text")
	switch {
	case in == kindString:
		return fmt.Sprintf("in works on lists and maps; for a string, use %s.contains(%s)", right, left)
	case in == kindObject:
		return fmt.Sprintf("in works on lists and maps; for an object, use has(%s.name)", right)
	case in == kindOptional:
		return "an optional is not a list: end with .orValue([])"
	case in == kindCIDR:
		return fmt.Sprintf("in works on lists and maps; for a CIDR, use %s.containsIP(%s)", f.operandFrom(f.token+1, "cidr(…)"), left)
	case in == kindList && kindOf(types[0]) == kindList:
		return fmt.Sprintf("in looks for one value; for each item of a list, use %s.all(e, e in [1, 2])", left)
	case in == kindList:
		return together(kindOf(types[0]), kindOf(within(types[1])), left)
	}
	return ""
}

func indexed(of, by kind, left string) string {
	switch {
	case of == kindList && by == kindString:
		return fmt.Sprintf("a list index is a number, such as [0]; to select by name, use %s.filter(e, e.name == 'x')", left)
	case of == kindObject:
		return "use a dot to select a field of an object"
	case of == kindMap && by == kindInt:
		return "the keys of a map are strings: use ['0']"
	case of == kindString:
		return "use .charAt(0) for a character of a string"
	case of == kindOptional:
		return "use [?0] on an optional, or end it with .orValue(…) first"
	}
	return ""
}
