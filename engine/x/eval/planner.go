package eval

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/functions"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
	"github.com/celadon-cel/celadon/types"
)

// How it works: a CRD has hundreds of rules over one environment. What is equal
// in them is made once and shared: the bindings of functions, patterns, and the
// errors of absent keys.

// Planner plans expressions that were checked in one environment. Programs
// share what is equal in them. It is not safe for concurrent use.
type Planner struct {
	env     *cel.Env
	known   map[string]*decls.FunctionDecl // nil until some function is asked for
	made    map[string]*function           // of the known ones
	regexps map[string]*regexcost.Pattern
	states  int // of the regexps
	missing map[celtypes.String]*celtypes.Err
	unbound map[string]*celtypes.Err // of the roots
}

// NewPlanner makes a planner for an environment.
func NewPlanner(env *cel.Env) *Planner {
	return &Planner{
		env:     env,
		made:    map[string]*function{},
		regexps: map[string]*regexcost.Pattern{},
		missing: map[celtypes.String]*celtypes.Err{},
		unbound: map[string]*celtypes.Err{},
	}
}

// New plans one expression; where there are several, a Planner is faster.
func New(env *cel.Env, checked *cel.Ast, d *types.Decl, limit int64) (*Program, error) {
	return NewPlanner(env).Plan(checked, d, limit)
}

// Plan plans a checked expression whose self is declared as d. An evaluation
// stops when its cost passes limit.
func (p *Planner) Plan(checked *cel.Ast, d *types.Decl, limit int64) (*Program, error) {
	return p.PlanWith(checked, types.RuleRoots(d, false), limit)
}

// PlanWith is as Plan, for an expression that starts from any roots: its program
// is for activations of the same ones, in the same order. It panics with an
// *InternalError for a bug of ours.
func (p *Planner) PlanWith(checked *cel.Ast, roots []types.Root, limit int64) (*Program, error) {
	return p.program(checked, checked.NativeRep().Expr(), roots, limit, func(*planner) {})
}

// PlanPart is PlanWith for a part of a checked expression; the variables of the
// macros around it are roots of it.
func (p *Planner) PlanPart(checked *cel.Ast, part ast.Expr, roots []types.Root, limit int64) (*Program, error) {
	return p.program(checked, part, roots, limit, func(*planner) {})
}

func (p *Planner) program(checked *cel.Ast, e ast.Expr, roots []types.Root, limit int64, prepare func(*planner)) (_ *Program, err error) {
	defer func() {
		if r := recover(); r != nil {
			bug := panicked(r)
			if _, ours := bug.(*InternalError); ours {
				panic(bug)
			}
			err = unplannable(r) // constants are evaluated here, as upstream does
		}
	}()
	one := p.planner(checked.NativeRep(), roots)
	prepare(one)
	c, err := one.plan(e)
	if err != nil {
		return unplanned(p.env, checked)
	}
	prog := &Program{val: c.boxed(), slots: one.slots, limit: uint64(limit)}
	if c.kind == boolKind {
		prog.test = c.test
	}
	return prog, nil
}

func (p *Planner) planner(checked *ast.AST, roots []types.Root) *planner {
	return &planner{Planner: p, roots: roots, refs: checked.ReferenceMap(), types: checked.TypeMap()}
}

func unplannable(panicked any) error {
	return fmt.Errorf("CEL's libraries cannot plan it, as with a map whose keys are no strings, numbers or bools: %v", panicked)
}

// unplanned is what cel-go refuses too, in its words, or panics over. What it
// takes nobody could count the work of.
func unplanned(env *cel.Env, checked *cel.Ast) (_ *Program, err error) {
	defer func() {
		if r := recover(); r != nil { // nothing but upstream's planner is below
			err = unplannable(r)
		}
	}()
	if _, err := env.Program(checked); err != nil {
		return nil, err
	}
	return Overworked("its work cannot be counted"), nil
}

// function is one of an environment's.
type function struct {
	overloads []*decls.OverloadDecl
	bindings  []*functions.Overload
}

// function returns the overloads of a function. ok is false if the environment does
// not declare it.
func (p *Planner) function(name string) (f *function, ok bool, err error) {
	if f := p.made[name]; f != nil {
		return f, true, nil
	}
	if p.known == nil {
		p.known = p.env.Functions() // a copy
	}
	decl := p.known[name]
	if decl == nil {
		return nil, false, nil
	}
	bindings, err := decl.Bindings()
	if err != nil {
		return nil, true, err
	}
	f = &function{decl.OverloadDecls(), bindings}
	p.made[name] = f
	return f, true, nil
}

// regexp makes a constant pattern, once. The calls of one that is too large are
// not made.
func (p *Planner) regexp(src string) (*regexcost.Pattern, error) {
	if known := p.regexps[src]; known != nil {
		return known, nil
	}
	made, err := regexcost.New(src)
	if err != nil {
		return nil, err
	}
	if p.states+made.States() > keptStates {
		made.Drop()
	}
	if !made.TooLarge() {
		p.states += made.States()
	}
	p.regexps[src] = made
	return made, nil
}

func (p *Planner) noSuchKey(key celtypes.String) *celtypes.Err {
	err := p.missing[key]
	if err == nil {
		err = noSuchKey(key)
		p.missing[key] = err
	}
	return err
}

// absent is the error of a root that stands for nothing.
func (p *Planner) absent(root string) *celtypes.Err {
	err := p.unbound[root]
	if err == nil {
		err = newErr("no such attribute(s): %s", root)
		p.unbound[root] = err
	}
	return err
}
