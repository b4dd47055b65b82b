package celenv

import (
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/internal/minors"
	"github.com/celadon-cel/celadon/types"
)

// EscapedNames is the first minor version that accepts names in backticks, which leave no trace in
// a checked expression.
const EscapedNames = 37 // cel-go 0.29.0, parser/parser.go, NewParser

// noSurrogates is the first minor version that rejects escape sequences of surrogates in strings.
const noSurrogates = 33 // cel-go 0.23.0, parser/unescape.go, unescapeChar

// Plain reports whether every version since Oldest certainly checks the expression in the same way.
// If it returns false, the versions may still agree.
func Plain(checked *cel.Ast) bool {
	a, known := checked.NativeRep(), oldestOverloads()
	source := checked.Source().Content()
	plain := !strings.Contains(source, "`") && !strings.Contains(source, `\u`) && !strings.Contains(source, `\U`)
	for _, ref := range a.ReferenceMap() {
		for _, id := range ref.OverloadIDs {
			plain = plain && known[id]
		}
	}
	ast.PreOrderVisit(a.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.ComprehensionKind:
			plain = plain && e.AsComprehension().IterVar2() == "" && !spaces[e.AsComprehension().IterVar()]
		case ast.IdentKind:
			plain = plain && !strings.HasPrefix(e.AsIdent(), ".")
		case ast.SelectKind:
			plain = plain && !reserved[e.AsSelect().FieldName()]
		case ast.ListKind:
			plain = plain && len(e.AsList().OptionalIndices()) == 0 && sameTypes(a, e.AsList().Elements())
		case ast.MapKind, ast.StructKind:
			plain = false
		}
	}))
	return plain
}

func sameTypes(a *ast.AST, list []ast.Expr) bool {
	for _, e := range list {
		if !a.GetType(e.ID()).IsExactType(a.GetType(list[0].ID())) {
			return false
		}
	}
	return true
}

// KeywordFields is the first minor version that accepts a reserved word as a field name in new
// rules.
const KeywordFields = keywordFields + 1

// Reserved reports whether word cannot be used as a field name before KeywordFields.
func Reserved(word string) bool { return reserved[word] }

// reserved holds the words that can be selected as fields since KeywordFields.
var reserved = map[string]bool{
	"as": true, "break": true, "const": true, "continue": true, "else": true, "for": true, "function": true, "if": true,
	"import": true, "let": true, "loop": true, "package": true, "namespace": true, "return": true, "var": true, "void": true, "while": true,
	"in": true, "true": true, "false": true, "null": true,
}

var oldestOverloads = sync.OnceValue(func() map[string]bool { return Overloads(types.Version{Minor: types.Oldest}) })

// Overloads returns the IDs of the overloads that servers of version v accept in new rules.
func Overloads(v types.Version) map[string]bool {
	known := map[string]bool{}
	for _, f := range NewRules(v).base.Functions() {
		for _, o := range f.OverloadDecls() {
			known[o.ID()] = true
		}
	}
	if !crossTypes.Include(v.Minor) {
		dropCrossTypes(known)
	}
	return known
}

// crossTypes are the versions whose new rules can compare integers with doubles.
var crossTypes = minors.Since(29)

// dropCrossTypes removes overloads that are declared but disabled.
func dropCrossTypes(known map[string]bool) {
	numbers := []string{"int64", "uint64", "double"}
	for _, op := range []string{"less_", "less_equals_", "greater_", "greater_equals_"} {
		for _, a := range numbers {
			for _, b := range numbers {
				if a != b {
					delete(known, op+a+"_"+b)
				}
			}
		}
	}
}
