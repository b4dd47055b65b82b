package check

import (
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
)

// Config holds the declarations of an environment without a container.
type Config struct {
	Functions []*decls.FunctionDecl
	Variables []*decls.VariableDecl
	// SameNumbers disables the overloads that compare numbers of different types.
	SameNumbers bool
	// TypeParameters distinguishes the types of types by their parameters, as cel-go 0.33 does: type([]) is not int.
	TypeParameters bool
}

// A Checker checks expressions of an environment. It is safe for concurrent use.
type Checker struct {
	functions map[string]*function
	// spaces holds the first components of qualified function names.
	spaces         map[string]bool
	variables      map[string]*Variable
	dotted         bool
	typeParameters bool
	states         sync.Pool
}

// A function holds the overloads of a function: free for f(x), members for x.f().
type function struct {
	name          string
	free, members []overload
	// logical is set for && and ||, which accept any number of arguments.
	logical bool
}

// An overload is a signature whose type parameters are numbered, so that unification can index them.
type overload struct {
	args   []*celtypes.Type
	result *celtypes.Type
	params int
	// mixed is set if the overload compares numbers of different types in an environment that
	// disables such comparisons.
	mixed bool
	id    string
	ref   *ast.ReferenceInfo
}

// A Variable is a declared variable. It is immutable.
type Variable struct {
	name   string
	typ    *celtypes.Type
	ref    *ast.ReferenceInfo
	dotted bool
}

// NewVariable returns the Variable for a declaration.
func NewVariable(decl *decls.VariableDecl) *Variable {
	return &Variable{decl.Name(), decl.Type(), ast.NewIdentReference(decl.Name(), decl.Value()), strings.Contains(decl.Name(), ".")}
}

// New returns a checker for an environment.
func New(config Config) *Checker {
	c := &Checker{functions: map[string]*function{}, spaces: map[string]bool{}, variables: map[string]*Variable{}, typeParameters: config.TypeParameters}
	for _, f := range config.Functions {
		if f.IsDeclarationDisabled() {
			continue
		}
		c.functions[f.Name()] = newFunction(f, config.SameNumbers)
		if space, _, ok := strings.Cut(f.Name(), "."); ok {
			c.spaces[space] = true
		}
	}
	for _, decl := range config.Variables {
		v := NewVariable(decl)
		c.variables[v.name] = v
		c.dotted = c.dotted || v.dotted
	}
	c.states.New = func() any { return &state{} }
	return c
}

func newFunction(f *decls.FunctionDecl, sameNumbers bool) *function {
	fn := &function{name: f.Name(), logical: f.Name() == operators.LogicalAnd || f.Name() == operators.LogicalOr}
	for _, decl := range f.OverloadDecls() {
		o := newOverload(decl)
		o.mixed = sameNumbers && mixesNumbers(o.id)
		if decl.IsMemberFunction() {
			fn.members = append(fn.members, o)
		} else {
			fn.free = append(fn.free, o)
		}
	}
	return fn
}

func newOverload(decl *decls.OverloadDecl) overload {
	numbers := map[string]*celtypes.Type{}
	for _, name := range slices.Sorted(slices.Values(decl.TypeParams())) {
		numbers[name] = numbered(len(numbers))
	}
	o := overload{id: decl.ID(), params: len(numbers), ref: ast.NewFunctionReference(decl.ID()), result: renumber(decl.ResultType(), numbers)}
	for _, arg := range decl.ArgTypes() {
		o.args = append(o.args, renumber(arg, numbers))
	}
	return o
}

func renumber(t *celtypes.Type, numbers map[string]*celtypes.Type) *celtypes.Type {
	if t.Kind() == celtypes.TypeParamKind {
		return numbers[t.TypeName()]
	}
	return withParameters(t, func(p *celtypes.Type) *celtypes.Type { return renumber(p, numbers) })
}

// mixesNumbers reports whether an overload compares numbers of different types. cel-go disables
// these overloads in environments without such comparisons.
func mixesNumbers(id string) bool {
	for _, op := range []string{"less_equals_", "greater_equals_", "less_", "greater_"} {
		if pair, ok := strings.CutPrefix(id, op); ok {
			a, b, _ := strings.Cut(pair, "_")
			return numberNames[a] && numberNames[b] && a != b
		}
	}
	return false
}

var numberNames = map[string]bool{"int64": true, "uint64": true, "double": true}
