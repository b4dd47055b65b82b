package policyvet

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/cel/loops"
)

// How it works: an evaluator evaluates an expression for a request about which only a few facts are known,
// such as that object is null, as in requests to delete objects, or that object.kind is Pod. Everything
// else is unknown, so the result is the set of the results that are possible. Only reading null or the
// absent field is an error here: other missing fields are ignored. If the evaluator does not know a
// function, its result is any value, so it reports too few errors rather than too many.
//
// It also records the expressions that can affect a result, without branches that a known condition
// excludes, and without operands of && and || next to an operand that determines the result.

type evaluator struct {
	subject *subject
	null    string            // the root that is null, or ""
	known   map[string]string // strings by path, such as request.operation
	kind    *kind             // of object and oldObject, or nil if it is not known
	absent  []string          // the paths of fields that the object lacks
	strict  bool              // reading a field that kind does not declare fails

	current *expression
	vars    map[string]result // of macros
	times   int               // how often the current step is evaluated
	// variables holds the variables of the policy that were evaluated, and visitedBy the nodes visited for
	// each.
	variables map[string]result
	visited   []node
	visitedBy map[string][]node
}

// A node is a part of an expression. If id is useNode, it is a use of a whole variable.
type node struct {
	of *expression
	id int64
}

const useNode = -1

func newEvaluator(s *subject, null string, known map[string]string) *evaluator {
	return &evaluator{subject: s, null: null, times: 1, known: known, vars: map[string]result{}, variables: map[string]result{}, visitedBy: map[string][]node{}}
}

func (n *evaluator) top(x *expression) result {
	n.current = x
	return n.eval(x.tree)
}

func (n *evaluator) eval(e ast.Expr) result {
	n.visited = append(n.visited, node{n.current, e.ID()})
	switch e.Kind() {
	case ast.LiteralKind:
		return literal(e)
	case ast.IdentKind:
		return n.ident(e.AsIdent())
	case ast.SelectKind:
		s := e.AsSelect()
		return n.field(e, s.Operand(), s.FieldName(), s.IsTestOnly())
	case ast.CallKind:
		return n.call(e)
	case ast.ListKind:
		return n.list(e.AsList())
	case ast.MapKind, ast.StructKind:
		out := result{set: isOther}
		for _, child := range loops.Children(e) {
			out.set |= n.eval(child).set & isError
		}
		return out
	case ast.ComprehensionKind:
		return n.loop(e.AsComprehension())
	}
	return unknown
}

func literal(e ast.Expr) result {
	switch v := e.AsLiteral().(type) {
	case celtypes.Bool:
		return boolResult(bool(v))
	case celtypes.Null:
		return result{set: isLiteralNull}
	case celtypes.String:
		return result{set: isOther, text: string(v), empty: v == ""}
	}
	return result{set: isOther}
}

func (n *evaluator) ident(name string) result {
	if v, ok := n.vars[name]; ok {
		return v
	}
	switch name {
	case n.null:
		return result{set: isNull}
	case objectName, oldObjectName, requestName, variablesName:
		return result{set: isOther}
	}
	return unknown
}

func (n *evaluator) field(e, operand ast.Expr, name string, test bool) result {
	if isRoot(operand, variablesName) {
		return n.variable(name, test)
	}
	if known := n.known[selection(e)]; known != "" {
		return result{set: isOther, text: known}
	}
	if test && n.known[selection(operand)+"."+name] != "" {
		return yes
	}
	of := n.eval(operand)
	switch {
	case of.none:
		return of
	case !test && (n.isAbsent(e) || n.strict && n.undeclared(e)):
		return result{set: isError}
	case test && (n.isAbsent(e) || n.undeclared(e)):
		return result{set: isFalse | of.set&isError}
	case test && n.fields(e, func(f *resolvedField) bool { return f.state == fieldDeclared && n.kind.always(f) }):
		return result{set: isTrue | of.set&isError}
	}
	out := result{set: of.set & isError}
	switch {
	case test && of.set&anything != 0:
		out.set |= isBool
	case test && of.set&(isNull|isLiteralNull) != 0:
		out.set |= isFalse
	case !test && of.set&anything != 0:
		out.set |= anything
	}
	if !test && of.set&isNull != 0 {
		out.set |= isError
	}
	return out
}

func (n *evaluator) variable(name string, test bool) result {
	if x := n.subject.variables[name]; x != nil {
		n.visited = append(n.visited, node{x, useNode})
	}
	v, ok := n.variables[name]
	if !ok {
		n.variables[name] = unknown // if the variable needs itself
		v = unknown
		if x := n.subject.variables[name]; x != nil && x.tree != nil {
			vars, current, visited := n.vars, n.current, n.visited
			n.vars, n.visited = map[string]result{}, nil
			v = n.top(x)
			n.visitedBy[name] = n.visited
			n.vars, n.current, n.visited = vars, current, visited
		}
		n.variables[name] = v
	}
	if test {
		return result{set: isTrue | v.set&isError}
	}
	return v
}

func (n *evaluator) list(list ast.ListExpr) result {
	out := result{set: isOther, elem: &result{}}
	for _, item := range list.Elements() {
		v := n.eval(item)
		out.set |= v.set & isError
		out.elem.set |= v.set &^ isError
	}
	return out
}

func (n *evaluator) call(e ast.Expr) result {
	call := e.AsCall()
	args := call.Args()
	switch call.FunctionName() {
	case operators.LogicalNot:
		return not(n.eval(args[0]))
	case operators.LogicalAnd:
		return n.and(args[0], args[1], func(v result) result { return v })
	case operators.LogicalOr:
		return not(n.and(args[0], args[1], not))
	case operators.Conditional:
		return conditional(n.eval(args[0]), func() result { return n.eval(args[1]) }, func() result { return n.eval(args[2]) })
	case operators.Equals:
		return equal(n.eval(args[0]), n.eval(args[1]))
	case operators.NotEquals:
		return not(equal(n.eval(args[0]), n.eval(args[1])))
	case operators.In:
		return n.in(args[0], args[1])
	case operators.NotStrictlyFalse:
		return result{set: isTrue}
	case "dyn":
		if len(args) == 1 {
			return n.eval(args[0])
		}
	}
	if operand, name, test, ok := field(e); ok {
		if test {
			return n.optional(e, operand, name)
		}
		return n.field(e, operand, name, false)
	}
	return n.function(call)
}

func (n *evaluator) optional(e, operand ast.Expr, name string) result {
	if isRoot(operand, variablesName) {
		return result{set: isOther | n.variable(name, false).set&isError}
	}
	of := n.eval(operand)
	return result{set: isOther | of.set&isError, none: of.none || of.value() == isNull || n.isAbsent(e) || n.undeclared(e)}
}

var acceptsNull = map[string]bool{"type": true, "format": true, "of": true, "ofNonZeroValue": true}

func (n *evaluator) function(call ast.CallExpr) result {
	name, args := call.FunctionName(), call.Args()
	var operands []result
	if call.IsMemberFunction() && !isRoot(call.Target(), "optional") {
		of := n.eval(call.Target())
		switch {
		case of.none && name == "hasValue":
			return no
		case of.none && name == "orValue" && len(args) == 1:
			return n.eval(args[0])
		}
		operands = append(operands, of)
	}
	for _, arg := range args {
		operands = append(operands, n.eval(arg))
	}
	out := unknown
	for i, v := range operands {
		if v.set == isError {
			return v
		}
		out.set |= v.set & isError
		if i == 0 && v.set&isNull != 0 && !acceptsNull[name] {
			out.set |= isError
		}
	}
	return out
}

func (n *evaluator) in(item, list ast.Expr) result {
	v, in := n.eval(item), n.eval(list)
	out := result{set: isBool | (v.set|in.set)&isError}
	if in.set&isNull != 0 {
		out.set |= isError
	}
	if in.set&anything == 0 {
		out.set &^= isBool
	}
	if v.text == "" || list.Kind() != ast.ListKind {
		return out
	}
	known := true
	for _, e := range list.AsList().Elements() {
		s, ok := text(e)
		known = known && ok
		if ok && s == v.text {
			return yes
		}
	}
	if known {
		return no
	}
	return out
}

func (n *evaluator) and(left, right ast.Expr, f func(result) result) result {
	start := len(n.visited)
	a := f(n.eval(left))
	if a.set == isFalse {
		return a
	}
	middle := len(n.visited)
	b := f(n.eval(right))
	if b.set == isFalse {
		n.visited = append(n.visited[:start], n.visited[middle:]...)
	}
	return and(a, b)
}

// selection returns the text of a selection of fields from a root, such as request.kind.kind, or "".
func selection(e ast.Expr) string {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent()
	case ast.SelectKind:
		if of := selection(e.AsSelect().Operand()); of != "" && !e.AsSelect().IsTestOnly() {
			return of + "." + e.AsSelect().FieldName()
		}
	}
	return ""
}

func (n *evaluator) undeclared(e ast.Expr) bool {
	return n.fields(e, func(f *resolvedField) bool { return f.state == fieldUndeclared })
}

// fields reports whether so holds for all fields of the kind that e may select. It returns false if they are not
// known.
func (n *evaluator) fields(e ast.Expr, so func(*resolvedField) bool) bool {
	paths := n.subject.paths[node{n.current, e.ID()}]
	return n.kind != nil && len(paths) > 0 && !slices.ContainsFunc(paths, func(path string) bool {
		f := n.kind.resolve(path)
		return !so(&f)
	})
}

// isAbsent reports whether e may select a field that the object lacks. If e may also select a field of oldObject,
// it does so in other requests.
func (n *evaluator) isAbsent(e ast.Expr) bool {
	return len(n.absent) > 0 && slices.ContainsFunc(n.subject.paths[node{n.current, e.ID()}], func(path string) bool { return slices.Contains(n.absent, path) })
}

func (n *evaluator) reached() map[node]bool {
	all := map[node]bool{}
	open := n.visited
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		if all[at] {
			continue
		}
		all[at] = true
		if at.id == useNode {
			open = append(open[:len(open):len(open)], n.visitedBy[at.of.Name]...)
		}
	}
	return all
}
