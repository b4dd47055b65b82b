package types

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"

	apiservercel "k8s.io/apiserver/pkg/cel"
)

// Scope compiles expressions at many places of one schema with one CEL
// environment. An environment costs far more than a rule.
type Scope struct {
	env *Env
	cel *cel.Env
	ids map[*Decl]int
}

// Scope prepares an environment for expressions at the given declarations,
// which are root itself, below it, or apart from it. Hidden ones are passed
// over.
func (e *Env) Scope(root *Decl, places []*Decl) (*Scope, error) {
	s := &Scope{env: e, ids: map[*Decl]int{}}
	named := map[*Decl]*apiservercel.DeclType{}
	roots := []*apiservercel.DeclType{}
	if t := root.declType(selfType, named); t != nil {
		roots = append(roots, t)
	}
	vars := []cel.EnvOption{}
	for _, d := range places {
		if d.Kind == Hidden || s.ids[d] != 0 {
			continue
		}
		id := len(s.ids) + 1
		s.ids[d] = id
		t := named[d]
		if t == nil { // below a name that has no identifier
			t = d.declType(fmt.Sprintf("%s%d", selfType, id), named)
			roots = append(roots, t)
		}
		vars = append(vars,
			cel.Variable(s.variable(Self, id), t.CelType()),
			cel.Variable(s.variable(OldSelf, id), t.CelType()),
			cel.Variable(s.variable(optionalOld, id), cel.OptionalType(t.CelType())))
	}
	opts, err := e.provide(roots)
	if err != nil {
		return nil, err
	}
	s.cel, err = e.base.Extend(append(opts, vars...)...)
	return s, err
}

// optionalOld is oldSelf of a rule with optionalOldSelf.
const optionalOld = "optionalOldSelf"

// variable is self, or oldSelf, of one declaration: no identifier that an
// expression can name.
func (s *Scope) variable(name string, id int) string { return fmt.Sprintf("%s@%d", name, id) }

// Compile parses and checks an expression whose self is declared as d. The
// environment is the one to plan and price it with. The error is an
// *IssuesError where the expression is bad.
func (s *Scope) Compile(d *Decl, optionalOldSelf bool, src string) (env *cel.Env, checked *cel.Ast, err error) {
	if id := s.ids[d]; id != 0 {
		if checked := s.compile(id, optionalOldSelf, src); checked != nil {
			return s.cel, checked, nil
		}
	}
	// Errors name types by their path from self: only an environment of the
	// place itself has these names.
	return s.env.Compile(d, optionalOldSelf, src)
}

// compile is nil where the expression has an error.
func (s *Scope) compile(id int, optionalOldSelf bool, src string) *cel.Ast {
	parsed, issues := s.cel.Parse(src)
	if issues != nil {
		return nil
	}
	old := OldSelf
	if optionalOldSelf {
		old = optionalOld
	}
	there := map[string]string{Self: s.variable(Self, id), OldSelf: s.variable(old, id)}
	if !rename(parsed.NativeRep().Expr(), there) {
		return nil
	}
	checked, issues := s.cel.Check(parsed)
	if issues != nil {
		return nil
	}
	back := map[string]string{there[Self]: Self, there[OldSelf]: OldSelf}
	rename(checked.NativeRep().Expr(), back)
	for _, ref := range checked.NativeRep().ReferenceMap() {
		if name, ok := back[ref.Name]; ok {
			ref.Name = name
		}
	}
	return checked
}

var exprs = ast.NewExprFactory()

// rename renames free variables in place. It is false for names with a leading
// dot, which it does not follow.
func rename(e ast.Expr, names map[string]string) bool {
	switch e.Kind() {
	case ast.IdentKind:
		name := e.AsIdent()
		if to, ok := names[name]; ok {
			e.SetKindCase(exprs.NewIdent(e.ID(), to))
		}
		return name == "" || name[0] != '.'
	case ast.SelectKind:
		return rename(e.AsSelect().Operand(), names)
	case ast.CallKind:
		call := e.AsCall()
		return (!call.IsMemberFunction() || rename(call.Target(), names)) && renameAll(call.Args(), names)
	case ast.ListKind:
		return renameAll(e.AsList().Elements(), names)
	case ast.MapKind:
		return renameEntries(e.AsMap().Entries(), names)
	case ast.StructKind:
		return renameEntries(e.AsStruct().Fields(), names)
	case ast.ComprehensionKind:
		return renameLoop(e.AsComprehension(), names)
	}
	return true
}

func renameAll(list []ast.Expr, names map[string]string) bool {
	for _, e := range list {
		if !rename(e, names) {
			return false
		}
	}
	return true
}

func renameEntries(entries []ast.EntryExpr, names map[string]string) bool {
	for _, entry := range entries {
		switch entry.Kind() {
		case ast.MapEntryKind:
			m := entry.AsMapEntry()
			if !rename(m.Key(), names) || !rename(m.Value(), names) {
				return false
			}
		case ast.StructFieldKind:
			if !rename(entry.AsStructField().Value(), names) {
				return false
			}
		}
	}
	return true
}

// renameLoop leaves alone what a macro's variables hide.
func renameLoop(loop ast.ComprehensionExpr, names map[string]string) bool {
	body := without(names, loop.IterVar(), loop.IterVar2(), loop.AccuVar())
	return rename(loop.IterRange(), names) && rename(loop.AccuInit(), names) &&
		rename(loop.LoopCondition(), body) && rename(loop.LoopStep(), body) &&
		rename(loop.Result(), without(names, loop.AccuVar()))
}

func without(names map[string]string, hidden ...string) map[string]string {
	out := names
	for _, name := range hidden {
		if _, ok := out[name]; !ok {
			continue
		}
		kept := map[string]string{}
		for from, to := range out {
			if from != name {
				kept[from] = to
			}
		}
		out = kept
	}
	return out
}
