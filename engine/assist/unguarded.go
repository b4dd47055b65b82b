package assist

import (
	"fmt"
	"maps"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/engine/lex"
	"github.com/celadon-cel/celadon/internal/expr"
	"github.com/celadon-cel/celadon/internal/guard"
	"github.com/celadon-cel/celadon/types"
)

// unguarded are the fields that an expression reads without has() though they may be
// absent: what vet's optional-read says, of each and not of the first.
func (p *Place) unguarded(x *expr.Expr) (all []Problem) {
	env := p.env()
	if env == nil || p.Part == AnyExpression {
		return nil
	}
	asked := map[string]bool{}
	p.eachRead(x, func(e ast.Expr, name string, _ *resolver) {
		if e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() || asksOptional(e) {
			asked[name] = true
		}
	})
	src := lex.NewSource(x.Source(), x.AST())
	p.eachRead(x, func(e ast.Expr, name string, r *resolver) {
		if e.Kind() != ast.SelectKind || e.AsSelect().IsTestOnly() || asksOptional(e) || asked[name] || r.always(e.AsSelect()) {
			return
		}
		asked[name] = true
		start, end, ok := src.Range(e)
		if !ok {
			return
		}
		problem := Problem{Kind: Unguarded, Start: start, End: end}
		problem.Message = fmt.Sprintf("%s is optional and read without has(): where it is absent the rule fails with \"no such key\"", name)
		problem.Words = fmt.Sprintf("write has(%s) && …, or !has(%s) || …", name, name)
		for _, how := range []guard.Way{guard.Refuse, guard.Accept} {
			if edits := p.guarded(x, name, how); len(edits) > 0 {
				problem.Mends = append(problem.Mends, p.tried(x.Source(), edits, p.fits)...)
			}
		}
		all = append(all, problem)
	})
	return all
}

// maxGuards is how many reads of one field are guarded.
const maxGuards = 12

// guarded guards each read of a field that is not guarded yet; none where that cannot be
// done.
func (p *Place) guarded(x *expr.Expr, name string, how guard.Way) []Edit {
	was := x.Source()
	if len(was) > maxMended {
		return nil
	}
	for range maxGuards {
		text := ""
		p.eachRead(x, func(e ast.Expr, other string, _ *resolver) {
			if text == "" && other == name && e.Kind() == ast.SelectKind && !e.AsSelect().IsTestOnly() {
				text = guard.Field(x, p.env(), e, how)
			}
		})
		if text == "" {
			return between(was, x.Source())
		}
		var err error
		if x, err = p.compile(text); err != nil {
			return nil
		}
	}
	return nil
}

// always is true of a field that any valid object has, or of which that is not known.
func (r *resolver) always(s ast.SelectExpr) bool {
	of := r.expr(s.Operand())
	if of.decl == nil || of.decl.Kind != types.Object {
		return true
	}
	f, ok := of.decl.ByIdent(s.FieldName())
	read := of.field(s.FieldName())
	if !ok || read.schema == nil || f.Required || read.schema.Default != nil {
		return true
	}
	return of.decl.Root && (f.Name == "metadata" || f.Name == "apiVersion" || f.Name == "kind")
}

// eachRead visits the parts of an expression that read the object, with the names that
// they are read by.
func (p *Place) eachRead(x *expr.Expr, visit func(e ast.Expr, name string, r *resolver)) {
	r := &resolver{place: p, vars: map[string]found{}}
	if p.OptionalOldSelf {
		r.vars[types.OldSelf] = found{}
	}
	r.each(x.AST().NativeRep().Expr(), visit)
}

func (r *resolver) each(e ast.Expr, visit func(e ast.Expr, name string, r *resolver)) {
	if name := r.nameOf(e); name != "" {
		visit(e, name, r)
	}
	if e.Kind() != ast.ComprehensionKind {
		for _, part := range below(e) {
			r.each(part, visit)
		}
		return
	}
	c := e.AsComprehension()
	r.each(c.IterRange(), visit)
	r.each(c.AccuInit(), visit)
	outer := r.vars
	r.vars = maps.Clone(outer)
	r.loop(c)
	r.vars[c.AccuVar()] = found{}
	r.each(c.LoopStep(), visit)
	r.each(c.Result(), visit)
	r.vars = outer
}

// nameOf is how an expression reads a place of the object; "" where it is no plain
// place.
func (r *resolver) nameOf(e ast.Expr) string {
	if r.expr(e).decl == nil && !(e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly()) {
		return ""
	}
	if e.Kind() == ast.IdentKind {
		return e.AsIdent()
	}
	if isCall(e, operators.Index) || isCall(e, operators.OptIndex) {
		if of := r.nameOf(e.AsCall().Args()[0]); of != "" {
			return of + "[…]"
		}
		return ""
	}
	of, name, _ := read(e)
	if of == nil {
		return ""
	}
	if before := r.nameOf(of); before != "" {
		return strings.Join([]string{before, name}, ".")
	}
	return ""
}

// between is the edit that makes one text of another; none where they are equal.
func between(was, is string) []Edit {
	if was == is {
		return nil
	}
	a, b := []rune(was), []rune(is)
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	to := 0
	for to < min(len(a), len(b))-from && a[len(a)-1-to] == b[len(b)-1-to] {
		to++
	}
	return []Edit{{from, len(a) - to, string(b[from : len(b)-to])}}
}
