package celenv

import (
	"errors"
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/decls"

	"github.com/celadon-cel/celadon/internal/cel/check"
	"github.com/celadon-cel/celadon/internal/cel/upstream"
	"github.com/celadon-cel/celadon/internal/kubecel"
	"github.com/celadon-cel/celadon/types"
)

// A Scope compiles expressions at many paths, also of several schemas. It avoids creating an
// environment for each path, which would cost far more than compiling the rules. A Scope is not
// safe for concurrent use.
//
// Celadon's checker assigns the same types and references as cel-go's in a tenth of the time. It
// can be removed when the cel-go version used by k8s.io is as fast.
type Scope struct {
	env        *Env
	checks     *checks
	types      *typeTable
	roots      map[Root]*check.Variable
	complexity int
	invalid    invalidTotal
	reported   reportTotal
	// last is the environment for the errors of expressions at one path. fields are the fields of the
	// roots' objects, which can change.
	last struct {
		roots  []Root
		fields []map[string]*kubecel.DeclField
		env    *cel.Env
	}
}

// Scope returns a new Scope for expressions in e.
func (e *Env) Scope() (*Scope, error) {
	checks, err := e.checks()
	if err != nil {
		return nil, err
	}
	table, err := e.newTypeTable()
	if err != nil {
		return nil, err
	}
	return &Scope{env: e, checks: checks, types: table, roots: map[Root]*check.Variable{}}, nil
}

// Env returns the environment in which to plan expressions and estimate their cost. It does not
// declare the roots.
func (s *Scope) Env() *cel.Env { return s.env.base }

// Compile parses and checks src with self declared as d. It returns the same errors as Env.Compile.
// The error is also a *ComplexError if all expressions of the scope together are too complex, or if the
// errors of earlier expressions took too much work.
func (s *Scope) Compile(d *types.Decl, optionalOldSelf bool, src string) (*cel.Ast, error) {
	return s.CompileWith(RuleRoots(d, optionalOldSelf), src)
}

// CompileWith is like Compile, but takes any roots.
func (s *Scope) CompileWith(roots []Root, src string) (*cel.Ast, error) {
	switch {
	case hidden(roots):
		return nil, types.ErrHidden
	case s.invalid.exceeded():
		return nil, &ComplexError{invalid: s.invalid.count}
	}
	if checked, ok, err := s.compile(roots, src); ok || err != nil {
		return checked, err
	}
	// Error messages name types by their path from the root, so they require the environment of
	// these roots.
	env, units, err := s.with(roots)
	if err != nil {
		return nil, err
	}
	checked, err := Check(env, src)
	s.invalid.add(src, err, units)
	return checked, err
}

func (s *Scope) with(roots []Root) (env *cel.Env, units int, err error) {
	fields := make([]map[string]*kubecel.DeclField, len(roots))
	for i, r := range roots {
		if r.Object != nil {
			fields[i] = r.Object.Fields
		}
	}
	if s.last.env != nil && slices.Equal(s.last.roots, roots) && slices.EqualFunc(s.last.fields, fields, maps.Equal) {
		return s.last.env, 0, nil
	}
	if env, err = s.env.With(roots); err != nil {
		return nil, 0, err
	}
	units = envUnits
	for i, r := range roots {
		units += unitsPerNode * nodes(r.Decl)
		fields[i] = maps.Clone(fields[i])
	}
	s.last.roots, s.last.fields, s.last.env = slices.Clone(roots), fields, env
	return env, units, nil
}

// Forget resets the counts of work, so that expressions compiled from now on are independent of
// earlier expressions. Use it, for example, when a rule temporarily replaces another.
func (s *Scope) Forget() { s.complexity, s.invalid, s.reported = 0, invalidTotal{}, reportTotal{} }

// ok is false if cel-go's checker has to check the expression.
func (s *Scope) compile(roots []Root, src string) (checked *cel.Ast, ok bool, err error) {
	parsed, err := s.parse(src)
	if err != nil {
		return nil, false, err // parse errors do not name types
	}
	units, tooMuch := complexity(parsed.NativeRep().Expr())
	if units > maxComplexity || s.complexity+units > scopeComplexity {
		return nil, false, tooMuch
	}
	s.complexity += units
	if upstream.CEL {
		return nil, false, nil
	}
	variables := make([]*check.Variable, len(roots))
	for i, r := range roots {
		if variables[i], err = s.root(r); err != nil {
			return nil, false, err
		}
	}
	if !s.checks.check(parsed, s.types, variables) {
		return nil, false, nil
	}
	return parsed, true, nil
}

func (s *Scope) parse(src string) (*cel.Ast, error) {
	parser := s.checks.parser
	parsed, err := parser.parse(s.env.base, src)
	if !errors.Is(err, errSyntax) {
		return parsed, err
	}
	parsed, err = parser.upstream(s.env.base, src)
	s.invalid.add(src, err, 0)
	return parsed, err
}

func (s *Scope) root(r Root) (*check.Variable, error) {
	if known := s.roots[r]; known != nil {
		return known, nil
	}
	t := r.Type
	switch {
	case r.Object != nil:
		if err := s.types.declare(s.env, r.Object); err != nil {
			return nil, err
		}
		t = r.Object.CelType()
	case r.Decl != nil:
		t = s.types.of(r.Decl)
	}
	v := check.NewVariable(decls.NewVariable(r.Name, r.of(t)))
	s.roots[r] = v
	return v, nil
}

// An invalidTotal is the work for the invalid expressions of a scope. Only cel-go has their errors,
// and each error repeats a line of the source, so they take far more time and memory than valid
// expressions. Reports multiply it: they compile the expressions for each Kubernetes version.
type invalidTotal struct {
	count, units int
}

// maxInvalid limits the work for the invalid expressions of a scope, in units of about a microsecond.
const maxInvalid = 250_000

// The work for an invalid expression: the units for cel-go's checker, the units for a byte of the source, and the
// bytes of errors for a unit.
const (
	unitsPerExpression = 300
	unitsPerByte       = 5
	errorBytesPerUnit  = 5
)

// The units of the environment in which cel-go finds the errors, and for a node of its types.
const (
	envUnits     = 200
	unitsPerNode = 2
)

func (t *invalidTotal) exceeded() bool { return t.units > maxInvalid }

// err is nil if the expression is valid after all. units is the work that its source and its error do not show.
func (t *invalidTotal) add(src string, err error, units int) {
	if err == nil {
		return
	}
	t.count++
	t.units += units + unitsPerExpression + unitsPerByte*len(src) + len(err.Error())/errorBytesPerUnit
}

func nodes(d *types.Decl) int {
	if d == nil {
		return 0
	}
	n := 1 + nodes(d.Elem)
	for _, f := range d.Fields {
		n += nodes(f.Decl)
	}
	return n
}

// A reportTotal is the size of the errors that were reported. An expression that occurs several times is
// compiled once, but each occurrence is reported.
type reportTotal struct{ count, bytes int }

// maxReported limits the errors that are reported for a scope, in bytes.
const maxReported = 1 << 20

// reportBytes is the size of a report beyond the text of its error.
const reportBytes = 600

// Report counts an error that is reported for an expression of the scope. It returns an error instead if
// the earlier errors reached the limit.
func (s *Scope) Report(text string) *ComplexError {
	if s.reported.bytes > maxReported {
		return &ComplexError{invalid: s.reported.count}
	}
	s.reported.count++
	s.reported.bytes += reportBytes + len(text)
	return nil
}
