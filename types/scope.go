package types

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/decls"
)

// Scope compiles expressions at many places, of one schema or several, with one
// checker: an environment for each place costs far more than its rules. It is
// not safe for concurrent use.
type Scope struct {
	env     *Env
	checks  *checks
	checker *checker.Env
	types   *typeTable
	// declared are the roots that the checker knows, by the names that it knows
	// them by.
	declared map[Root]string
	// complexity is that of all expressions so far.
	complexity int
}

// Scope makes an empty scope.
func (e *Env) Scope() (*Scope, error) {
	checks, err := e.checks()
	if err != nil {
		return nil, err
	}
	types, err := e.newTypeTable()
	if err != nil {
		return nil, err
	}
	checker, err := checks.checker(types)
	if err != nil {
		return nil, err
	}
	return &Scope{env: e, checks: checks, checker: checker, types: types, declared: map[Root]string{}}, nil
}

// Env is the environment to plan and price expressions with. It does not know
// the roots.
func (s *Scope) Env() *cel.Env { return s.env.base }

// Compile parses and checks an expression whose self is declared as d. The error
// is an *IssuesError where the expression is bad, and a *ComplexError where it,
// or all of the scope's together, are too complex.
func (s *Scope) Compile(d *Decl, optionalOldSelf bool, src string) (*cel.Ast, error) {
	return s.CompileWith(RuleRoots(d, optionalOldSelf), src)
}

// CompileWith is as Compile, for any roots.
func (s *Scope) CompileWith(roots []Root, src string) (*cel.Ast, error) {
	if !hidden(roots) {
		checked, err := s.compile(roots, src)
		if checked != nil || err != nil {
			return checked, err
		}
	}
	// Errors name types by their path from the root: only an environment of the
	// place itself has these names.
	env, err := s.env.With(roots)
	if err != nil {
		return nil, err
	}
	return compile(env, src)
}

// declare gives the checker's name of a root: no identifier that an expression
// can name.
func (s *Scope) declare(r Root) (name string, err error) {
	if name := s.declared[r]; name != "" {
		return name, nil
	}
	t := r.Type
	if r.Decl != nil {
		t = s.types.of(r.Decl)
	}
	name = fmt.Sprintf("%s%s%d", r.Name, ownName, len(s.declared))
	s.declared[r] = name
	return name, s.checker.AddIdents(decls.NewVariable(name, r.of(t)))
}

// compile gives nil where the expression has an error.
func (s *Scope) compile(roots []Root, src string) (*cel.Ast, error) {
	parsed, issues := s.env.base.Parse(src)
	if issues != nil {
		return nil, &IssuesError{src, issues} // which names no types
	}
	units, tooMuch := complexity(parsed.NativeRep().Expr())
	if units > maxComplexity || s.complexity+units > scopeComplexity {
		return nil, tooMuch
	}
	s.complexity += units
	there, back := make(map[string]string, len(roots)), make(map[string]string, len(roots))
	for _, r := range roots {
		name, err := s.declare(r)
		if err != nil {
			return nil, err
		}
		there[r.Name], back[name] = name, r.Name
	}
	if !rename(parsed.NativeRep().Expr(), there) || !s.checks.check(parsed, s.checker) {
		return nil, nil
	}
	rename(parsed.NativeRep().Expr(), back)
	for _, ref := range parsed.NativeRep().ReferenceMap() {
		if name, ok := back[ref.Name]; ok {
			ref.Name = name
		}
	}
	return parsed, nil
}
