package eval

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/functions"

	"github.com/celadon-cel/celadon/types"
)

// Planner plans expressions that were checked in one environment. It is not
// safe for concurrent use.
type Planner struct {
	env       *cel.Env
	functions map[string]*function // by name, as far as they were asked for
	known     map[string]*decls.FunctionDecl
}

// NewPlanner makes a planner for an environment.
func NewPlanner(env *cel.Env) *Planner {
	return &Planner{env: env, functions: map[string]*function{}}
}

// New plans one expression; where there are several, a Planner is faster.
func New(env *cel.Env, ast *cel.Ast, d *types.Decl, limit int64) (*Program, error) {
	return NewPlanner(env).Plan(ast, d, limit)
}

// Plan plans a checked expression whose self is declared as d. An evaluation
// stops when its cost passes limit.
func (p *Planner) Plan(ast *cel.Ast, d *types.Decl, limit int64) (_ *Program, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error: %v", r)
		}
	}()
	checked := ast.NativeRep()
	one := &planner{Planner: p, decl: d, refs: checked.ReferenceMap(), types: checked.TypeMap()}
	c, err := one.plan(checked.Expr())
	if err != nil {
		return celProgram(p.env, ast, d, limit)
	}
	prog := &Program{val: c.boxed(), slots: one.slots, limit: uint64(limit)}
	if c.kind == boolKind {
		prog.test = c.test
	}
	return prog, nil
}

// function is one of an environment's.
type function struct {
	overloads []*decls.OverloadDecl
	bindings  []*functions.Overload
}

// function is nil where the environment has none of that name.
func (p *Planner) function(name string) (*function, error) {
	if f := p.functions[name]; f != nil {
		return f, nil
	}
	if p.known == nil {
		p.known = p.env.Functions() // a copy
	}
	decl := p.known[name]
	if decl == nil {
		return nil, nil
	}
	bindings, err := decl.Bindings()
	if err != nil {
		return nil, err
	}
	f := &function{decl.OverloadDecls(), bindings}
	p.functions[name] = f
	return f, nil
}
