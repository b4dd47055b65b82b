package assist

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/guard"
)

// maxGuarded limits the number of fields per expression for which fixes are sought, and maxGuards
// the number of guarded reads per field. Each read takes a compilation.
const (
	maxGuarded = 8
	maxGuards  = 12
)

// unguarded returns a problem for each field that may be absent and is read, but tested nowhere.
func (p *Context) unguarded(x *expr.Expr) (all []Problem) {
	if p.Part == AnyExpression {
		return nil
	}
	done := map[readKey]bool{}
	p.eachRead(x, func(e ast.Expr, of readKey, _ *resolver) {
		if isTest(e) || mayBeOptional(e) {
			done[of] = true
		}
	})
	src := lex.NewSource(x.Source(), x.AST())
	p.eachRead(x, func(e ast.Expr, of readKey, r *resolver) {
		if e.Kind() != ast.SelectKind || isTest(e) || mayBeOptional(e) || done[of] || r.always(e.AsSelect()) {
			return
		}
		done[of] = true
		start, end, ok := src.Range(e)
		if !ok {
			return
		}
		problem := Problem{Kind: Unguarded, Advice: Advice{Code: UnguardedField}, Start: start, End: end, Read: of.name}
		problem.Message = fmt.Sprintf("%s is optional and is read without has(): if it is absent, the rule fails with \"no such key\"", of.name)
		problem.Words = fmt.Sprintf("write has(%s) && …, or !has(%s) || …", of.name, of.name)
		for _, way := range []guard.Way{guard.Reject, guard.Accept} {
			if edits := p.guarded(x, of, way); len(all) < maxGuarded && len(edits) > 0 {
				problem.Fixes = append(problem.Fixes, p.tried(x.Source(), edits)...)
			}
		}
		all = append(all, problem)
	})
	return all
}

func (p *Context) guarded(x *expr.Expr, of readKey, way guard.Way) []Edit {
	if len(x.Source()) > maxFixedLength {
		return nil
	}
	src, edits := x.Source(), []Edit(nil)
	for range maxGuards {
		var more []guard.Insertion
		p.eachRead(x, func(e ast.Expr, other readKey, _ *resolver) {
			if len(more) == 0 && other == of && e.Kind() == ast.SelectKind && !isTest(e) {
				more = guard.Field(x, p.env(), e, way)
			}
		})
		if len(more) == 0 {
			return edits
		}
		for _, i := range slices.Backward(more) {
			edits = inserted(edits, i.At, i.Text)
		}
		var err error
		if x, err = p.compile(Apply(src, edits)); err != nil {
			return nil
		}
	}
	return nil
}

// inserted adds an insertion to edits, which are insertions in order of position. at is a position in the text
// after these edits.
func inserted(edits []Edit, at int, text string) []Edit {
	grown := 0
	for i, e := range edits {
		old := []rune(e.Text)
		switch in := at - grown - e.Start; {
		case in < 0:
			return slices.Insert(edits, i, Edit{at - grown, at - grown, text})
		case in <= len(old):
			edits[i].Text = string(old[:in]) + text + string(old[in:])
			return edits
		}
		grown += len(old)
	}
	return append(edits, Edit{at - grown, at - grown, text})
}

func isTest(e ast.Expr) bool { return e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() }

// always reports whether the selected field is present in every valid object. It also returns true
// if that is unknown.
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
	if len(of.steps) == 1 && of.steps[0].Name == "metadata" { // of the object itself, not an embedded one
		return f.Name == "name"
	}
	return of.decl.Root && (f.Name == "metadata" || f.Name == "apiVersion" || f.Name == "kind")
}

// readKey identifies a read of the object: the name that it is read by, and the number of the macro
// whose variable the name begins with, counted from 1, because two macros can use the same variable
// name.
type readKey struct {
	name  string
	macro int
}

func (p *Context) eachRead(x *expr.Expr, visit func(e ast.Expr, of readKey, r *resolver)) {
	w := &readWalk{resolver: resolver{context: p, vars: map[string]referent{}}, by: map[string]int{}, visit: visit}
	if p.OptionalOldSelf {
		w.vars[types.OldSelf] = referent{}
	}
	w.each(x.AST().NativeRep().Expr())
}

type readWalk struct {
	resolver
	by     map[string]int // the number of the macro that declares each variable
	macros int
	visit  func(e ast.Expr, of readKey, r *resolver)
}

func (w *readWalk) each(e ast.Expr) {
	if name := w.nameOf(e); name != "" {
		root, _, _ := strings.Cut(name, ".")
		root, _, _ = strings.Cut(root, "[")
		w.visit(e, readKey{name, w.by[root]}, &w.resolver)
	}
	if e.Kind() != ast.ComprehensionKind {
		for _, part := range loops.Children(e) {
			w.each(part)
		}
		return
	}
	c := e.AsComprehension()
	w.each(c.IterRange())
	w.each(c.AccuInit())
	vars, by := w.vars, w.by
	w.vars, w.by = maps.Clone(vars), maps.Clone(by)
	w.loop(c)
	w.vars[c.AccuVar()] = referent{}
	w.macros++
	for _, name := range []string{c.IterVar(), c.IterVar2(), c.AccuVar()} {
		w.by[name] = w.macros
	}
	w.each(c.LoopStep())
	w.each(c.Result())
	w.vars, w.by = vars, by
}

func (r *resolver) nameOf(e ast.Expr) string {
	if r.expr(e).decl == nil && !isTest(e) {
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
		return before + "." + name
	}
	return ""
}
