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

// Config is what an environment without a container declares.
type Config struct {
	Functions []*decls.FunctionDecl
	Variables []*decls.VariableDecl
	// SameNumbers leaves out the overloads that compare numbers of two types.
	SameNumbers bool
}

// Checker checks expressions of one environment. It is safe for concurrent use.
type Checker struct {
	functions map[string]*function
	// spaces are what names of functions with a dot begin with.
	spaces    map[string]bool
	variables map[string]*Variable
	// dotted is true where some variable has a dot in its name.
	dotted bool
	// states are those of checks that are over, to be used again.
	states sync.Pool
}

// function is one with its overloads by how they are called.
type function struct {
	name          string
	free, members []overload
	// logical functions, && and ||, take any number of arguments.
	logical bool
}

// overload is one whose type parameters are numbered.
type overload struct {
	args   []*celtypes.Type
	result *celtypes.Type
	params int
	// mixed overloads compare numbers of two types.
	mixed bool
	id    string
	// ref refers to this overload alone.
	ref *ast.ReferenceInfo
}

// Variable is a name that expressions know. It is immutable.
type Variable struct {
	name   string
	typ    *celtypes.Type
	ref    *ast.ReferenceInfo
	dotted bool
}

// NewVariable declares a variable.
func NewVariable(decl *decls.VariableDecl) *Variable {
	return &Variable{decl.Name(), decl.Type(), ast.NewIdentReference(decl.Name(), decl.Value()), strings.Contains(decl.Name(), ".")}
}

// New makes a checker.
func New(config Config) *Checker {
	c := &Checker{functions: map[string]*function{}, spaces: map[string]bool{}, variables: map[string]*Variable{}}
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

// renumber puts numbers in the place of type parameters.
func renumber(t *celtypes.Type, numbers map[string]*celtypes.Type) *celtypes.Type {
	if t.Kind() == celtypes.TypeParamKind {
		return numbers[t.TypeName()]
	}
	return withParameters(t, func(p *celtypes.Type) *celtypes.Type { return renumber(p, numbers) })
}

// mixesNumbers says whether an overload is one that cel-go switches off where
// numbers of two types are not to be compared.
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
