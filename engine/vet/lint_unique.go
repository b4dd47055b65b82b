package vet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/types"
)

// uniqueList finds rules that compare each pair of elements to reject duplicates in a list that could be of type set
// or map.
func uniqueList(in *inspection) *Lint {
	list, keys := in.uniqueness(in.expr.ast.NativeRep().Expr())
	if list == nil {
		return nil
	}
	want, ok := typeForUnique(list.node, keys)
	if !ok {
		return nil
	}
	path := engine.FormatPath(list.steps())
	return &Lint{List: &ListType{path, keys}, Message: fmt.Sprintf("%s on %s rejects duplicates without a rule that compares each pair of items; "+
		"server-side apply then merges the items of the list, and updates of stored objects with duplicates are not checked",
		want, phrase.Path(path))}
}

// A ListType is an x-kubernetes-list-type.
type ListType struct {
	// Path is the path of the list in objects.
	Path string
	// Keys are the map keys of a list of type map. A list of type set has no keys.
	Keys []string
}

// typeForUnique returns the keywords with which a list rejects items with equal keys, or equal items if there are no
// keys. ok is false if the schema already sets a type, or if the API server would reject the keywords.
func typeForUnique(s *schema.Structural, keys []string) (keywords string, ok bool) {
	if s == nil || s.Items == nil || s.XListType != nil || s.Items.Nullable {
		return "", false
	}
	if len(keys) == 0 {
		return "x-kubernetes-list-type: set", isScalar(s.Items)
	}
	required := s.Items.ValueValidation != nil
	for _, key := range keys {
		prop, ok := s.Items.Properties[key]
		if !ok || !isScalar(&prop) || prop.Nullable || prop.Default.Object == nil && !(required && slices.Contains(s.Items.ValueValidation.Required, key)) {
			return "", false
		}
	}
	return fmt.Sprintf("x-kubernetes-list-type: map and x-kubernetes-list-map-keys: [%s]", strings.Join(keys, ", ")), true
}

func isScalar(s *schema.Structural) bool {
	switch s.Type {
	case "string", "integer", "number", "boolean":
		return true
	}
	return false
}

// uniqueness returns the list whose elements have unique keys if e is true, apart from a guard such as
// !has(self.list) || e. There are no keys if the elements themselves are unique. The list is nil for other
// expressions.
func (in *inspection) uniqueness(e ast.Expr) (list *exprPath, keys []string) {
	switch op, args := operation(e); op {
	case operators.LogicalOr:
		if name, of := operation(args[0]); name == operators.LogicalNot && isHas(of[0]) {
			return in.uniqueness(args[1])
		}
	case operators.Conditional:
		if isHas(args[0]) && args[2].AsLiteral() == celtypes.True {
			return in.uniqueness(args[1])
		}
	case operators.LogicalNot:
		if m, ok := macroOf(args[0]); ok && m.Name == loops.Exists && m.Index == "" {
			return in.uniqueIn(m, in.several)
		}
	}
	m, ok := macroOf(e)
	switch {
	case !ok || m.Name != loops.All:
		return nil, nil
	case m.Index != "":
		return in.uniquePairs(m)
	}
	return in.uniqueIn(m, in.single)
}

func isHas(e ast.Expr) bool { return e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() }

func (in *inspection) uniqueIn(outer loops.Loop, count func(body ast.Expr) (loops.Loop, bool)) (list *exprPath, keys []string) {
	inner, ok := count(outer.Body)
	if !ok {
		return nil, nil
	}
	list, found := in.comparedKeys(outer, inner)
	if found == nil || list.elements {
		return nil, nil
	}
	return list, list.names(*found)
}

// comparedKeys returns the list over which both loops run, or nil, and the keys that the inner loop compares, as
// keysOf does.
func (in *inspection) comparedKeys(outer, inner loops.Loop) (list *exprPath, keys *[]string) {
	list, again := in.walk.pathOf(outer.Over), in.walk.pathOf(inner.Over)
	if list == nil || again == nil || list.decl.Kind != types.List || list.path != again.path || mentions(inner.Over, outer.Variable) {
		return nil, nil
	}
	return list, keysOf(inner.Body, outer.Variable, inner.Variable)
}

func (p *exprPath) names(idents []string) (names []string) {
	for _, ident := range idents {
		if f, ok := p.decl.Elem.ByIdent(ident); ok {
			names = append(names, f.Name)
		}
	}
	return names
}

// single matches exists_one(y, …), and filter(y, …) whose size is 1 or at most 1.
func (in *inspection) single(body ast.Expr) (loops.Loop, bool) {
	if m, ok := macroOf(body); ok && m.Index == "" {
		return m, m.Name == loops.ExistsOne
	}
	return countedFilter(body, map[string]int64{operators.Equals: 1, operators.LessEquals: 1, operators.Less: 2})
}

// several matches filter(y, …) whose size is more than 1 or not 1.
func (in *inspection) several(body ast.Expr) (loops.Loop, bool) {
	return countedFilter(body, map[string]int64{operators.Greater: 1, operators.GreaterEquals: 2, operators.NotEquals: 1})
}

func countedFilter(e ast.Expr, numbers map[string]int64) (m loops.Loop, ok bool) {
	op, args := operation(e)
	want, ok := numbers[op]
	if !ok || args[1].AsLiteral() != celtypes.Int(want) {
		return m, false
	}
	of := sizeOperand(args[0])
	if of == nil {
		return m, false
	}
	m, ok = macroOf(of)
	return m, ok && m.Name == loops.Filter && m.Index == ""
}

// uniquePairs matches all(i, x, list.all(j, y, i == j || x.key != y.key)).
func (in *inspection) uniquePairs(outer loops.Loop) (list *exprPath, keys []string) {
	inner, ok := macroOf(outer.Body)
	if !ok || inner.Name != loops.All || inner.Index == "" {
		return nil, nil
	}
	list, _ = in.comparedKeys(outer, inner)
	terms := loops.Terms(inner.Body, operators.LogicalOr)
	if list == nil || list.elements || len(terms) < 2 {
		return nil, nil
	}
	same := 0
	found := []string{}
	for _, term := range terms {
		op, args := operation(term)
		if len(args) == 2 && isPair(args, outer.Index, inner.Index) && op != operators.NotEquals {
			same++
			continue
		}
		want := operators.NotEquals
		if op == operators.LogicalNot && len(terms) == 2 {
			want = operators.Equals
			op, args = operation(args[0])
		}
		key, ok := keyOf(args, outer.Variable, inner.Variable)
		if op != want || !ok {
			return nil, nil
		}
		if key != "" {
			found = append(found, key)
		}
	}
	if same != 1 || len(found) > 0 && len(found) != len(terms)-1 {
		return nil, nil
	}
	return list, list.names(found)
}

func isPair(args []ast.Expr, a, b string) bool {
	return isIdent(args[0], a) && isIdent(args[1], b) || isIdent(args[0], b) && isIdent(args[1], a)
}

// keysOf returns the fields that a condition compares in two elements: x.a == y.a && x.b == y.b. The list is empty
// for x == y, and the result is nil for other conditions.
func keysOf(e ast.Expr, x, y string) *[]string {
	keys := []string{}
	terms := loops.Terms(e, operators.LogicalAnd)
	for _, term := range terms {
		op, args := operation(term)
		key, ok := keyOf(args, x, y)
		if op != operators.Equals || !ok || key == "" && len(terms) > 1 {
			return nil
		}
		if key != "" {
			keys = append(keys, key)
		}
	}
	return &keys
}

// keyOf returns the field in both operands: x.key and y.key, or "" for x and y.
func keyOf(args []ast.Expr, x, y string) (key string, ok bool) {
	if len(args) != 2 {
		return "", false
	}
	if isPair(args, x, y) {
		return "", true
	}
	a, b := args[0], args[1]
	if a.Kind() != ast.SelectKind || b.Kind() != ast.SelectKind || a.AsSelect().IsTestOnly() || b.AsSelect().IsTestOnly() {
		return "", false
	}
	key = a.AsSelect().FieldName()
	return key, key == b.AsSelect().FieldName() && isPair([]ast.Expr{a.AsSelect().Operand(), b.AsSelect().Operand()}, x, y)
}
