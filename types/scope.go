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
	ids     map[*Decl]int
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
	return &Scope{env: e, checks: checks, checker: checker, types: types, ids: map[*Decl]int{}}, nil
}

// optionalOld is oldSelf of a rule with optionalOldSelf.
const optionalOld = "optionalOldSelf"

// variable is self, or oldSelf, of one declaration: no identifier that an
// expression can name.
func variable(name string, id int) string { return fmt.Sprintf("%s%s%d", name, ownName, id) }

// Env is the environment to plan and price expressions with. It does not know
// self.
func (s *Scope) Env() *cel.Env { return s.env.base }

// Compile parses and checks an expression whose self is declared as d. The error
// is an *IssuesError where the expression is bad, and a *ComplexError where it,
// or all of the scope's together, are too complex.
func (s *Scope) Compile(d *Decl, optionalOldSelf bool, src string) (*cel.Ast, error) {
	if d.Kind != Hidden {
		checked, err := s.compile(d, optionalOldSelf, src)
		if checked != nil || err != nil {
			return checked, err
		}
	}
	// Errors name types by their path from self: only an environment of the
	// place itself has these names.
	_, checked, err := s.env.Compile(d, optionalOldSelf, src)
	return checked, err
}

// declare adds the variables of a place and gives the number in their names.
func (s *Scope) declare(d *Decl) (id int, err error) {
	if id := s.ids[d]; id != 0 {
		return id, nil
	}
	id, t := len(s.ids)+1, s.types.of(d)
	s.ids[d] = id
	return id, s.checker.AddIdents(
		decls.NewVariable(variable(Self, id), t),
		decls.NewVariable(variable(OldSelf, id), t),
		decls.NewVariable(variable(optionalOld, id), cel.OptionalType(t)))
}

// compile gives nil where the expression has an error.
func (s *Scope) compile(d *Decl, optionalOldSelf bool, src string) (*cel.Ast, error) {
	parsed, err := parse(s.env.base, src)
	if err != nil {
		return nil, err // which names no types
	}
	units, tooMuch := complexity(parsed.NativeRep().Expr())
	if units > maxComplexity || s.complexity+units > scopeComplexity {
		return nil, tooMuch
	}
	s.complexity += units
	id, err := s.declare(d)
	if err != nil {
		return nil, err
	}
	old := OldSelf
	if optionalOldSelf {
		old = optionalOld
	}
	there := map[string]string{Self: variable(Self, id), OldSelf: variable(old, id)}
	if !rename(parsed.NativeRep().Expr(), there) || !s.checks.check(parsed, s.checker) {
		return nil, nil
	}
	back := map[string]string{there[Self]: Self, there[OldSelf]: OldSelf}
	rename(parsed.NativeRep().Expr(), back)
	for _, ref := range parsed.NativeRep().ReferenceMap() {
		if name, ok := back[ref.Name]; ok {
			ref.Name = name
		}
	}
	return parsed, nil
}
