package assist

import (
	"fmt"
	"maps"
	"slices"
)

func function(name string, types []string) string {
	first := kindOf(types[0])
	switch {
	case (name == "int" || name == "uint" || name == "double") && first == kindBool:
		return name + " takes no condition: write (a ? 1 : 0)"
	case slices.Contains(ofLists, name) && first == kindList:
		return fmt.Sprintf("%s is a method: use list.%s()", name, name)
	case slices.Contains(ofLists, name):
		return fmt.Sprintf("%s is a method of lists: use [a, b].%s()", name, name)
	case slices.Contains(ofTexts, name) && first == kindString:
		return fmt.Sprintf("%s is a method: use text.%s(…)", name, name)
	case len(types) == 1 && slices.Contains(slices.Collect(maps.Values(constructors)), name):
		return fmt.Sprintf("%s takes a string: %s(string(…)), or write the value in quotes", name, name)
	case len(types) == 1 && first == kindList:
		return fmt.Sprintf("%s takes one value: for each item of the list, use list.all(e, %s(e))", name, name)
	case makers[name] != "":
		return fmt.Sprintf("%s is a method: use %s(text).%s(…)", name, makers[name], name)
	}
	return ""
}

// ofLists holds methods of lists. Strings also have some of them.
var ofLists = []string{"sum", "min", "max", "isSorted", "indexOf", "lastIndexOf", "distinct", "sort", "flatten", "reverse", "slice"}

// ofTexts holds methods that only strings have.
var ofTexts = []string{"contains", "endsWith", "lowerAscii", "matches", "startsWith", "trim", "upperAscii"}

func (f *fault) method(name string, types []string) string {
	on, args := kindOf(types[0]), types[1:]
	receiver := f.receiverOf(name, "x")
	if args[0] == "" && slices.Contains(f.known(), name) {
		return fmt.Sprintf("%s is a function: use %s(%s)", name, name, receiver)
	}
	if on == kindOptional {
		f.code = OptionalValue
	}
	switch {
	case on == kindOptional && (name == "orValue" || name == "or"):
		return "the default for an absent value must have its type: " + string(kindOf(within(types[0])))
	case on == kindOptional:
		return "an optional is not a value: end it with .orValue(…) first"
	case name == "contains" && (on == kindList || on == kindMap):
		return fmt.Sprintf("contains is a method of strings: use 'a' in %s", receiver)
	case on == kindCIDR && name == "contains":
		return "use containsIP for an IP address, or containsCIDR for a CIDR"
	case on == kindCIDR && makers[name] == "ip":
		return fmt.Sprintf("%s is a method of IP addresses: use .ip().%s()", name, name)
	case on == kindCIDR:
		return name + " takes a string, or what ip(…) or cidr(…) makes of one"
	case on.byMethod():
		return fmt.Sprintf("%s takes %s: convert with %s(…)", name, on, constructors[on])
	case on == kindList && slices.Contains(ofTexts, name):
		return fmt.Sprintf("%s is a method of strings: for each item of the list, use %s.all(e, e.%s(…))", name, receiver, name)
	case on == kindString && slices.Contains(ofTexts, name) && len(args) > 1:
		return fmt.Sprintf("%s takes one string: join two calls with || or &&", name)
	case on == kindString && slices.Contains(ofTexts, name) && kindOf(args[0]) == kindList:
		return fmt.Sprintf("%s takes one string: use ['a', 'b'].exists(e, %s.%s(e))", name, receiver, name)
	case on == kindString && makers[name] != "":
		return fmt.Sprintf("%s is a method of %s: use %s(%s).%s(%s)", name, makersOf[makers[name]], makers[name], receiver, name, map[bool]string{true: "…"}[args[0] != ""])
	case on != kindString && slices.Contains(ofTexts, name):
		return fmt.Sprintf("%s is a method of strings: convert with string(%s)", name, receiver)
	}
	return ""
}

func (f *fault) receiverOf(name, other string) string {
	i := f.tokenOf(name)
	if i < 2 || f.at(i-1) != "." {
		return other
	}
	return f.operand(i-2, other)
}

func (f *fault) expected(text string) string {
	want, found, _ := expectedIn(text)
	if open := f.bracket(f.token); kindOf(want) == kindBool && f.at(open) == "(" && (f.at(open-1) == "==" || f.at(open-1) == "!=") {
		return f.as(NotACondition, listOfValues)
	}
	for _, i := range []int{f.token - 1, f.token + 1} {
		if op := f.at(i); f.token < len(f.tokens) && kindOf(want) == kindBool && isLiteral(f.tokens[f.token]) && (op == "||" || op == "&&") {
			return f.as(NotACondition, noAlternative(op, f.at(f.token)))
		}
	}
	if kindOf(want) == kindBool {
		return f.as(NotACondition, asCondition(kindOf(found), f.around()))
	}
	switch f.at(f.token - 1) {
	case ",", "[", "{", ":":
		return "all elements must have the same type: convert one, or each with dyn(…)"
	}
	return ""
}
