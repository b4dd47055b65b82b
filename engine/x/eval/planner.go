package eval

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/functions"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/cel/panics"
	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
	"github.com/celadon-cel/celadon/types"
)

// How it works: a CRD has hundreds of rules that share an environment. Equal parts are made once
// and shared by all of its programs: function bindings, patterns, and the errors of absent keys.

// A Planner plans expressions that were checked in the same environment. Its programs share equal
// parts. It is not safe for concurrent use.
type Planner struct {
	env     *cel.Env
	known   map[string]*decls.FunctionDecl // nil until the first lookup of a function
	made    map[string]*function
	regexps map[string]*regexcost.Pattern
	states  int
	missing map[celtypes.String]*celtypes.Err
	unbound map[string]*celtypes.Err
	version types.Version // for roots without a declaration
}

// NewPlanner returns a planner for the environment.
func NewPlanner(env *cel.Env) *Planner {
	return &Planner{
		env:     env,
		made:    map[string]*function{},
		regexps: map[string]*regexcost.Pattern{},
		missing: map[celtypes.String]*celtypes.Err{},
		unbound: map[string]*celtypes.Err{},
		version: types.Version{Minor: types.Newest},
	}
}

// ForVersion sets the Kubernetes version whose semantics apply to programs without a declared root,
// and returns p. The default is the newest.
func (p *Planner) ForVersion(v types.Version) *Planner {
	p.version = v
	return p
}

// New plans an expression. To plan several, a Planner is faster.
func New(env *cel.Env, checked *cel.Ast, d *types.Decl, limit int64) (*Program, error) {
	return NewPlanner(env).Plan(checked, d, limit)
}

// Plan plans a checked expression whose self is declared as d. An evaluation stops when its cost
// exceeds limit.
func (p *Planner) Plan(checked *cel.Ast, d *types.Decl, limit int64) (*Program, error) {
	return p.PlanWith(checked, celenv.RuleRoots(d, false), limit)
}

// PlanWith is like Plan, for an expression with any roots. Activations of its program must have the
// same roots in the same order. PlanWith panics with an *InternalError on a bug in Celadon.
func (p *Planner) PlanWith(checked *cel.Ast, roots []celenv.Root, limit int64) (*Program, error) {
	return p.program(checked, checked.NativeRep().Expr(), roots, limit, func(*planner) {})
}

// PlanPart is like PlanWith, for a part of a checked expression. The variables of the macros around
// the part must be among the roots.
func (p *Planner) PlanPart(checked *cel.Ast, part ast.Expr, roots []celenv.Root, limit int64) (*Program, error) {
	return p.program(checked, part, roots, limit, func(*planner) {})
}

func (p *Planner) program(checked *cel.Ast, e ast.Expr, roots []celenv.Root, limit int64, prepare func(*planner)) (_ *Program, err error) {
	defer func() {
		if r := recover(); r != nil {
			bug := panicked(r)
			if _, ours := bug.(*InternalError); ours {
				panic(bug)
			}
			err = unplannable(r) // planning evaluates constants, as upstream does
		}
	}()
	one := p.planner(checked.NativeRep(), roots)
	prepare(one)
	c, err := one.plan(e)
	if err != nil {
		return unplanned(p.env, checked, one.semantics.minor)
	}
	prog := &Program{val: c.boxed(), slots: one.slots, limit: uint64(limit), errorsEnd: one.semantics.has[errorsEnd]}
	if c.kind == boolKind {
		prog.test = c.test
	}
	return prog, nil
}

func (p *Planner) planner(checked *ast.AST, roots []celenv.Root) *planner {
	return &planner{Planner: p, semantics: semanticsFor(roots, p.version), roots: roots, refs: checked.ReferenceMap(), types: checked.TypeMap()}
}

func unplannable(panicked any) error {
	return fmt.Errorf("CEL's libraries cannot plan it, as with a map whose keys are not strings, numbers, or bools: %v", panicked)
}

// unplanned returns cel-go's error for an expression that the planner does not support. If cel-go
// can plan the expression, its work could not be counted, so the program is Overworked.
func unplanned(env *cel.Env, checked *cel.Ast, minor int) (_ *Program, err error) {
	defer func() {
		if r := recover(); r != nil { // only upstream's planner can panic here
			err = unplannable(r)
		}
	}()
	if _, err := env.Program(checked); err != nil {
		return nil, PlanError(err, minor)
	}
	return Overworked("its work cannot be counted"), nil
}

type function struct {
	overloads []*decls.OverloadDecl
	bindings  []*functions.Overload
}

// ok is false if the environment does not declare the function.
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

// regexp compiles each pattern once. Matching a pattern that is too large ends with an OverworkError.
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

func (p *Planner) absent(root string) *celtypes.Err {
	err := p.unbound[root]
	if err == nil {
		err = newErr("no such attribute(s): %s", root)
		p.unbound[root] = err
	}
	return err
}

// How it works: the API server turns a panic of an evaluation into an error of the rule, with the prefix "internal
// error: ". So it rejects some objects because of a defect in cel-go or in the Kubernetes libraries, and Celadon must
// reject them too. But a defect in Celadon must not become a verdict. So only the panics listed below are errors of the
// rule, and upstream's own evaluation has them as well. Any other panic is an *InternalError.

// InternalError means that an evaluation has no outcome because of a bug in Celadon. Callers must
// return it as an error, not as a verdict.
type InternalError struct {
	// Panic is the recovered value, and Stack is the stack trace of the panic.
	Panic any
	Stack []byte
}

func (e *InternalError) Error() string {
	return fmt.Sprintf("internal error in celadon (please report it): %v", e.Panic)
}

type knownPanic struct {
	// in is a prefix of the name of the function that panics: upstream's function, or Celadon's
	// counterpart.
	in   string
	text string
	// upstream names the upstream function that panics, and the cause.
	upstream string
}

const (
	unhashable = "runtime error: hash of unhashable type "
	conversion = "interface conversion: "
	ours       = "github.com/celadon-cel/celadon/"
	lookup     = "github.com/google/cel-go/common/types.(*"
)

// knownPanics lists the panics of upstream's evaluation. TestKnownPanics checks each of them.
var knownPanics = []knownPanic{
	{ours + "engine/x/celvalue.(*mapListValue).", unhashable, "k8s.io/apiserver/pkg/cel/common.(*unstructuredMapList).getMap: a key of a map list that is a list or an object"},
	{ours + "engine/x/eval.newMap", unhashable, "cel-go/interpreter.(*evalMap).Exec: a key of bytes, or a semver"},
	{ours + "engine/x/eval.(*frame).in", unhashable, "cel-go/interpreter.(*evalSetMembership).Exec: bytes, or a semver, in a list of constants"},
	{lookup, unhashable, "the same function, Find of a map: bytes, or a semver, in a map that the rule writes"},
	{ours + "engine/x/eval.(*semantics).extensionCost", conversion, "cel-go/ext: the tracked cost of a call on a value that is an error, or null"},
}

var olderPanics = []knownPanic{
	{ours + "engine/x/celvalue.(*setValue).", unhashable, "k8s.io/apiserver/pkg/cel/common.(*unstructuredSetList): until 1.36, an item of a set that is a list, an object, or bytes"},
}

func isKnown(r any, in string) bool {
	if _, ok := r.(upstreamPanic); ok {
		return true
	}
	text := fmt.Sprint(r)
	for _, known := range append(olderPanics, knownPanics...) {
		if strings.HasPrefix(in, known.in) && strings.HasPrefix(text, known.text) {
			return true
		}
	}
	return false
}

func panicked(r any) error {
	if isKnown(r, panics.In()) {
		return fmt.Errorf("internal error: %v", r)
	}
	return &InternalError{Panic: r, Stack: debug.Stack()}
}
