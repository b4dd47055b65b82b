package policyvet

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/cel/loops"
)

// How it works: an origin is a path from a root at which the value of an expression may be found, such
// as object.spec.containers[]. The items of a list, the values of a map, and a field whose name is
// computed are the step []. An expression can have several origins, because of conditions and lists
// that are concatenated. A value that is computed has no origins. A reader finds the origins of all
// subexpressions and records each field that is read or tested.

// An origin is a path. lists counts how many levels of lists are around the value at the path.
type origin struct {
	path  string
	lists int
}

// maxOrigins limits the origins of an expression. Others are ignored.
const maxOrigins = 32

// A read is a field that an expression reads. test is set if the field may be missing: has(x.f), x.?f,
// and 'f' in x.
type read struct {
	path string
	test bool
	// of is the expression that reads the field, and at the part that does, or nil for 'f' in x.
	of *expression
	at ast.Expr
}

type reader struct {
	subject   *subject
	current   *expression
	vars      map[string][]origin // of macros
	variables map[string][]origin // of the policy
	seen      map[read]bool
	reads     []read
}

func (s *subject) read() {
	s.paths, s.tests = map[node][]string{}, map[node]bool{}
	r := &reader{subject: s, vars: map[string][]origin{}, variables: map[string][]origin{}, seen: map[read]bool{}}
	for _, x := range s.expressions {
		if x.Part == policy.PartVariable {
			r.variable(x.Name)
		} else if x.tree != nil {
			r.current = x
			r.of(x.tree)
		}
	}
	s.reads = r.reads
}

func (r *reader) record(list []origin, test bool, at ast.Expr) {
	for _, o := range list {
		if one := (read{path: o.path, test: test, of: r.current}); o.lists == 0 && !r.seen[one] {
			r.seen[one] = true
			one.at = at
			r.reads = append(r.reads, one)
		}
	}
}

func (r *reader) of(e ast.Expr) []origin {
	if operand, name, test, ok := field(e); ok {
		if isRoot(operand, variablesName) {
			return r.variable(name)
		}
		list := step(r.of(operand), fieldStep(name))
		r.record(list, test || isOptional(operand), e)
		at := node{r.current, e.ID()}
		r.subject.tests[at] = test || isOptional(operand)
		for _, o := range list {
			if o.lists == 0 && !below(o.path, paramsName) {
				r.subject.paths[at] = append(r.subject.paths[at], o.path)
			}
		}
		return list
	}
	switch e.Kind() {
	case ast.IdentKind:
		name := e.AsIdent()
		if list, ok := r.vars[name]; ok {
			return list
		}
		if name == objectName || name == oldObjectName || name == paramsName {
			return []origin{{path: name}}
		}
	case ast.CallKind:
		return r.call(e)
	case ast.ListKind:
		var list []origin
		for _, item := range e.AsList().Elements() {
			list = join(list, r.of(item))
		}
		return wrap(list)
	case ast.MapKind, ast.StructKind:
		for _, child := range loops.Children(e) {
			r.of(child)
		}
	case ast.ComprehensionKind:
		return r.loop(e.AsComprehension())
	}
	return nil
}

func (r *reader) variable(name string) []origin {
	list, ok := r.variables[name]
	x := r.subject.variables[name]
	if ok || x == nil || x.tree == nil {
		return list
	}
	r.variables[name] = nil // if the variable needs itself
	outer, vars := r.current, r.vars
	r.current, r.vars = x, map[string][]origin{}
	list = r.of(x.tree)
	r.current, r.vars = outer, vars
	r.variables[name] = list
	return list
}

// sameValues lists the member functions whose result consists of values of their target.
var sameValues = map[string]bool{"orValue": true, "or": true, "value": true, "sort": true, "distinct": true, "slice": true, "first": true, "last": true}

func (r *reader) call(e ast.Expr) []origin {
	call := e.AsCall()
	var operands [][]origin
	for _, child := range loops.Children(e) {
		operands = append(operands, r.of(child))
	}
	name := call.FunctionName()
	switch {
	case (name == operators.Index || name == operators.OptIndex) && len(operands) == 2:
		return step(operands[0], "[]")
	case name == operators.In && len(operands) == 2:
		r.testKey(call.Args()[0], operands[1])
	case name == operators.Conditional && len(operands) == 3:
		return join(operands[1], operands[2])
	case name == operators.Add && len(operands) == 2, sameValues[name] && len(operands) == 2:
		return join(operands[0], operands[1])
	case name == "dyn" || name == "of" || name == "ofNonZeroValue" || name == "optional.of" || name == "optional.ofNonZeroValue", sameValues[name]:
		if len(operands) > 0 {
			return operands[len(operands)-1]
		}
	}
	return nil
}

func (r *reader) testKey(key ast.Expr, in []origin) {
	if name, ok := text(key); ok {
		r.record(step(in, fieldStep(name)), true, nil)
	} else {
		r.record(step(in, "[]"), true, nil)
	}
}

func (r *reader) loop(loop ast.ComprehensionExpr) []origin {
	over, start := r.of(loop.IterRange()), r.of(loop.AccuInit())
	outer := r.vars
	defer func() { r.vars = outer }()
	r.vars = maps.Clone(outer)
	r.vars[loop.AccuVar()] = start
	items := step(over, "[]")
	r.vars[loop.IterVar()] = items
	if loop.HasIterVar2() {
		r.vars[loop.IterVar()], r.vars[loop.IterVar2()] = nil, items
	}
	r.of(loop.LoopCondition())
	r.vars[loop.AccuVar()] = join(start, r.of(loop.LoopStep()))
	return r.of(loop.Result())
}

// fieldStep returns the step of a field. Dots in its name are replaced, so that paths can be split.
func fieldStep(name string) string { return "." + strings.ReplaceAll(name, ".", "\x00") }

func shownPath(path string) string { return strings.ReplaceAll(path, "\x00", ".") }

func step(list []origin, name string) []origin {
	out := make([]origin, 0, len(list))
	for _, o := range list {
		switch {
		case o.lists == 0:
			out = append(out, origin{path: o.path + name})
		case name == "[]":
			out = append(out, origin{o.path, o.lists - 1})
		}
	}
	return out
}

func wrap(list []origin) []origin {
	out := make([]origin, len(list))
	for i, o := range list {
		if path, item := strings.CutSuffix(o.path, "[]"); item && o.lists == 0 {
			out[i] = origin{path: path}
		} else {
			out[i] = origin{o.path, o.lists + 1}
		}
	}
	return out
}

func join(a, b []origin) []origin {
	out := slices.Clone(a)
	for _, o := range b {
		if !slices.Contains(out, o) && len(out) < maxOrigins {
			out = append(out, o)
		}
	}
	return out
}

const (
	objectName    = "object"
	oldObjectName = "oldObject"
	requestName   = "request"
	variablesName = "variables"
	paramsName    = "params"
)

func visit(e ast.Expr, f func(ast.Expr)) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(f))
}

// field returns the operand and the name of a field selection: x.f, x.?f, x['f'], or has(x.f). test is
// set if the field may be missing.
func field(e ast.Expr) (of ast.Expr, name string, test, ok bool) {
	switch e.Kind() {
	case ast.SelectKind:
		s := e.AsSelect()
		return s.Operand(), s.FieldName(), s.IsTestOnly(), true
	case ast.CallKind:
		call := e.AsCall()
		if f := call.FunctionName(); len(call.Args()) == 2 && (f == operators.Index || f == operators.OptSelect || f == operators.OptIndex) {
			if name, ok := text(call.Args()[1]); ok {
				return call.Args()[0], name, f != operators.Index, true
			}
		}
	}
	return nil, "", false, false
}

func text(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().(celtypes.String)
	return string(s), ok
}

func isRoot(e ast.Expr, name string) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == name }

func usedVariables(tree ast.Expr) map[string]bool {
	names, whole := map[string]bool{}, 0
	visit(tree, func(e ast.Expr) {
		if isRoot(e, variablesName) {
			whole++
		}
		if of, name, _, ok := field(e); ok && isRoot(of, variablesName) {
			names[name] = true
			whole--
		}
	})
	if whole > 0 {
		names[""] = true
	}
	return names
}

// isOptional reports whether e is an optional selection or a field of one.
func isOptional(e ast.Expr) bool {
	switch e.Kind() {
	case ast.SelectKind:
		return isOptional(e.AsSelect().Operand())
	case ast.CallKind:
		f := e.AsCall().FunctionName()
		return f == operators.OptSelect || f == operators.OptIndex || f == operators.Index && isOptional(e.AsCall().Args()[0])
	}
	return false
}

// isBind reports whether a comprehension evaluates its result once with a variable, as cel.bind does.
func isBind(loop ast.ComprehensionExpr) bool {
	over := loop.IterRange()
	return over.Kind() == ast.ListKind && over.AsList().Size() == 0
}
