package assist

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/internal/cel/lex"
)

// manyArguments returns a hint for a macro with more arguments than it takes, and for the second variable of map, which
// the checker reads as a condition. Otherwise it returns "".
func (f *fault) manyArguments(name string, i int, call bool) string {
	if !call {
		if f.at(i-4) == "map" && f.at(i-5) == "." && f.at(i-3) == "(" && f.isName(i-2) && f.isVariable(i) {
			return f.oneVariable("map", i-4)
		}
		return ""
	}
	most := 0
	if env := f.context.env(); env != nil {
		for _, m := range env.Macros() {
			if m.Function() == name && m.IsReceiverStyle() == (f.at(i-1) == ".") {
				most = max(most, m.ArgCount())
			}
		}
	}
	switch {
	case most == 0 || f.count(i+1) <= most:
		return ""
	case name == "has":
		return "has takes one field: write has(…) && has(…)"
	case (name == "filter" || name == "map") && f.at(i+3) == "," && f.isName(i+4) && f.at(i+5) == ",":
		return f.oneVariable(name, i)
	}
	return fmt.Sprintf("%s takes at most %d arguments", name, most)
}

// isVariable reports whether token i is an argument that is a name, and a later argument of the call reads it.
func (f *fault) isVariable(i int) bool {
	if f.at(i-1) != "," || f.at(i+1) != "," {
		return false
	}
	depth := 1
	for j := i + 2; j < len(f.tokens) && depth > 0; j++ {
		if f.at(j) == f.at(i) && f.isBare(j) {
			return true
		}
		depth += lex.Depth(f.tokens[j])
	}
	return false
}

func (f *fault) oneVariable(name string, i int) string {
	of, variable, value := f.operand(i-2, "list"), f.at(i+2), ""
	if x, err := f.context.compile(of); err == nil && kindOf(x.Type().String()) == kindMap {
		value = fmt.Sprintf("; the value of a key is %s[%s]", of, variable)
	}
	words := fmt.Sprintf("%s has one variable: %s.%s(%s, …)%s", name, of, name, variable, value)
	env := f.context.env()
	isList := func(m cel.Macro) bool { return m.Function() == "transformList" }
	if name == "map" && env != nil && slices.ContainsFunc(env.Macros(), isList) {
		words += fmt.Sprintf("; transformList(%s, %s, …) has two", variable, f.at(i+4))
	}
	return words
}

// count returns the number of arguments in the parentheses that token open begins.
func (f *fault) count(open int) int {
	n, depth := 1, 1
	for j := open + 1; j < len(f.tokens) && depth > 0; j++ {
		if depth == 1 && f.at(j) == "," {
			n++
		}
		depth += lex.Depth(f.tokens[j])
	}
	return n
}

// countsDistinct reports whether the number of different items that call i makes is compared with another number than
// the size of its list.
func (f *fault) countsDistinct(i int) bool {
	sizes := 0
	for _, t := range f.tokens {
		if t.Text == "size" {
			sizes++
		}
	}
	end := (&fixer{fault: f}).closing(i + 1)
	return sizes == 1 && end > 0 && (f.at(end+1) == "." && f.at(end+2) == "size" || f.at(end+1) == ")" && f.sizeBefore(end))
}

func (f *fault) sizeBefore(end int) bool {
	first := f.operandFirst(end)
	return f.at(first-1) == "(" && f.at(first-2) == "size"
}

func (f *fault) distinct() string {
	if slices.Contains(functionNames(f.context.env()), "distinct") {
		return "use list.distinct() for the items without duplicates"
	}
	return "rules have no function that removes the duplicates of a list"
}
