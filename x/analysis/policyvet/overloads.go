package policyvet

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/common/decls"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/types"
)

// How it works: without types, an object is a map, items have any type, and a field with the format date-time, duration, or
// byte is a string. A call fails if no overload takes such values. The types are in the error of the checker.

var (
	badCall  = regexp.MustCompile(`^found no matching overload for '([^']*)' applied to '(.*)'$`)
	badRange = regexp.MustCompile(`^expression of type '(.*)' cannot be range of a comprehension`)
)

// fails reports whether an expression with a type error also fails, or never is true, without types.
func fails(message string) bool {
	if call := badCall.FindStringSubmatch(message); call != nil {
		return !callable(call[1], operands(call[2]))
	}
	if of := badRange.FindStringSubmatch(message); of != nil {
		return !fits(valueTypes(of[1]), "list", "map", "")
	}
	// Others, such as "expected type", are about the items of a literal.
	return strings.HasPrefix(message, "undefined field") || strings.HasSuffix(message, "does not support field selection")
}

// operands splits the operands in an error: target.(arguments), or (arguments).
func operands(text string) []string {
	target, args, isMember := strings.Cut(text, ".(")
	if !isMember {
		return typesIn(text[1 : len(text)-1])
	}
	return append([]string{target}, typesIn(args[:len(args)-1])...)
}

func typesIn(text string) (all []string) {
	depth, start := 0, 0
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			all = append(all, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return append(all, strings.TrimSpace(text[start:]))
}

// valueTypes returns the names of the types that a value of a declared type may have. "" is any type.
func valueTypes(declared string) []string {
	name, _, _ := strings.Cut(declared, "(")
	switch name {
	case "int", "uint", "double", "bool", "string", "list", "map":
		return []string{name}
	case "bytes":
		return []string{name, "string"}
	case "timestamp":
		return []string{"google.protobuf.Timestamp", "string"}
	case "duration":
		return []string{"google.protobuf.Duration", "string"}
	}
	if strings.HasPrefix(name, objectTypeName) {
		return []string{"map"}
	}
	return []string{""}
}

func fits(possible []string, names ...string) bool {
	return slices.ContainsFunc(possible, func(name string) bool { return slices.Contains(names, name) })
}

var numbers = []string{"int", "uint", "double"}

func callable(function string, declared []string) bool {
	given := make([][]string, len(declared))
	for i, name := range declared {
		given[i] = valueTypes(name)
	}
	comparable := func(a, b []string) bool {
		return fits(a, "") || fits(b, "") || fits(a, b...) || fits(a, numbers...) && fits(b, numbers...)
	}
	if len(declared) == 2 {
		switch {
		case function == "_==_" || function == "_!=_":
			return comparable(given[0], given[1])
		case function == "@in" && fits(given[1], "list", "map"):
			_, inner, ok := strings.Cut(strings.TrimSuffix(declared[1], ")"), "(")
			return !ok || comparable(given[0], valueTypes(typesIn(inner)[0]))
		case function == "_[_]" && fits(given[0], "list"):
			return fits(given[1], append(numbers, "")...)
		}
	}
	of := functions()[function]
	return of == nil || slices.ContainsFunc(of.OverloadDecls(), func(o *decls.OverloadDecl) bool {
		takes := o.ArgTypes()
		if len(takes) != len(given) {
			return false
		}
		for i, t := range takes {
			isAny := t.Kind() == celtypes.TypeParamKind || t.Kind() == celtypes.DynKind || t.Kind() == celtypes.AnyKind
			if !isAny && !fits(given[i], t.TypeName(), "") {
				return false
			}
		}
		return true
	})
}

var functions = sync.OnceValue(func() map[string]*decls.FunctionDecl {
	env, err := celenv.StoredRules(types.Version{Minor: types.Newest}).With(nil)
	if err != nil {
		return nil
	}
	return env.Functions()
})
