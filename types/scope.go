package types

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/decls"

	"github.com/celadon-cel/celadon/internal/cel/check"
)

// Scope compiles expressions at many places, of one schema or several: an
// environment for each place costs far more than its rules. It is not safe for
// concurrent use.
//
// What our checker accepts has the types and references that cel-go's gives, in a
// tenth of the time; it can go when the cel-go that k8s.io links is as fast.
type Scope struct {
	env    *Env
	checks *checks
	types  *typeTable
	roots  map[Root]*check.Variable
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
	return &Scope{env: e, checks: checks, types: types, roots: map[Root]*check.Variable{}}, nil
}

// Env is the environment to plan and price expressions with. It does not know
// the roots.
func (s *Scope) Env() *cel.Env { return s.env.base }

// Compile parses and checks an expression whose self is declared as d. The error
// is one of Env.Compile's; too complex may be all of the scope's together, too.
func (s *Scope) Compile(d *Decl, optionalOldSelf bool, src string) (*cel.Ast, error) {
	return s.CompileWith(RuleRoots(d, optionalOldSelf), src)
}

// CompileWith is as Compile, for any roots.
func (s *Scope) CompileWith(roots []Root, src string) (*cel.Ast, error) {
	if !hidden(roots) {
		checked, ok, err := s.compile(roots, src)
		if ok || err != nil {
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

// Join counts what another scope compiled as if it were compiled here, behind what
// was; false where that is too complex for one scope.
func (s *Scope) Join(other *Scope) bool {
	if s.complexity+other.complexity > scopeComplexity {
		return false
	}
	s.complexity += other.complexity
	return true
}

// Forget begins anew to count: what is compiled from here on is no part of what
// was, as a rule that stands for a moment in another's stead.
func (s *Scope) Forget() { s.complexity = 0 }

// compile parses and checks an expression with our own checker. ok is false if only
// cel-go's checker can decide it.
func (s *Scope) compile(roots []Root, src string) (checked *cel.Ast, ok bool, err error) {
	parsed, err := parseWith(s.checks.parser, s.env.base, src)
	if err != nil {
		return nil, false, err // which names no types
	}
	units, tooMuch := complexity(parsed.NativeRep().Expr())
	if units > maxComplexity || s.complexity+units > scopeComplexity {
		return nil, false, tooMuch
	}
	s.complexity += units
	variables := make([]*check.Variable, len(roots))
	for i, r := range roots {
		variables[i] = s.root(r)
	}
	if !s.checks.check(parsed, s.types, variables) {
		return nil, false, nil
	}
	return parsed, true, nil
}

func (s *Scope) root(r Root) *check.Variable {
	if known := s.roots[r]; known != nil {
		return known
	}
	t := r.Type
	if r.Decl != nil {
		t = s.types.of(r.Decl)
	}
	v := check.NewVariable(decls.NewVariable(r.Name, r.of(t)))
	s.roots[r] = v
	return v
}
