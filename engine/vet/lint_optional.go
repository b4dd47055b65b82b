package vet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/types"
)

// optionalImmutable finds self == oldSelf on a field that is optional or is in an optional object. A user can remove
// it and add it again with another value, and the rule does not run.
func optionalImmutable(in *inspection) *Lint {
	op, args := operation(in.expr.ast.NativeRep().Expr())
	if op != operators.Equals || !isPair(args, types.Self, types.OldSelf) || in.expr.key.Optional {
		return nil
	}
	above, guard, removable := in.removalGuard()
	if guard == "" {
		return nil
	}
	return &Lint{Message: fmt.Sprintf("%s can be removed and then set to another value, because the rule runs only if both "+
		"values exist: add the rule %q to %s, or make %s required",
		removable[0], guard, phrase.Path(above.objectPath()), strings.Join(removable, " and "))}
}

// removalGuard returns a rule that prevents the removal of r's value, alone or with an object that contains it, and
// the node for that rule. removable holds the paths of the optional parts, the innermost first. The rule is "" if the
// value cannot be removed, or only with a whole spec, which users do not do.
func (r *rule) removalGuard() (at *branch, guard string, removable []string) {
	var optional []*branch
	open := -1 // the outermost part that no rule protects
	for b := r.at; b.kind == atProperty; b = b.parent {
		if !b.removable() {
			continue
		}
		if optional = append(optional, b); !r.unit.guards(b) {
			open = len(optional) - 1
		}
	}
	if open < 0 || open == 0 && optional[0] != r.at && optional[0].parent.parent == nil {
		return nil, "", nil
	}
	optional = optional[:open+1]
	at = optional[open].parent
	var before, after []string
	for _, b := range slices.Backward(optional) {
		removable = slices.Insert(removable, 0, b.objectPath())
		path, ok := b.selection(at)
		if !ok {
			return nil, "", nil
		}
		before, after = append(before, "has(oldSelf"+path+")"), append(after, "has(self"+path+")")
	}
	if guard = "!" + before[0]; open > 0 {
		guard = "!(" + strings.Join(before, " && ") + ")"
	}
	return at, guard + " || " + strings.Join(after, " && "), removable
}

// selection returns a selection such as ".spec.image". ok is false if it cannot be written in CEL.
func (b *branch) selection(above *branch) (path string, ok bool) {
	for ; b != above; b = b.parent {
		ident, ok := types.Escape(b.name)
		if !ok {
			return "", false
		}
		path = "." + ident + path
	}
	return path, true
}

func needsOldValue(in *inspection) *Lint {
	root := in.expr.ast.NativeRep().Expr()
	c := &constancy{walk: in.walk, created: true}
	if !in.expr.key.Optional || c.truth(root) != never || in.constant() != maybe {
		return nil
	}
	const test = "oldSelf.hasValue()"
	rest, ok := strings.CutPrefix(in.spec.Rule, test+" && ")
	if op, _ := operation(root); !ok || op != operators.LogicalAnd {
		rest = "(" + in.spec.Rule + ")"
	}
	p := &Lint{Fix: in.fixed(edit{0, len([]rune(in.spec.Rule)), "!" + test + " || " + rest})}
	p.Message = "oldSelf has no value if the value is new, so the rule rejects each object that sets it: to accept the first value, write " +
		short("!"+test+" || "+rest)
	if path, ok := in.at.selection(in.at.parent); ok && in.at.removable() {
		p.Message += fmt.Sprintf("; to accept it only together with its object, also add the rule \"has(self%[1]s) == has(oldSelf%[1]s)\" above",
			path)
	}
	return p
}

func (b *branch) removable() bool {
	return b.kind == atProperty && b.props.Default == nil && !slices.Contains(b.parent.props.Required, b.name)
}

// A transition rule of an ancestor that tests for a field of the same name counts as a guard.
func (u *unit) guards(b *branch) bool {
	return slices.ContainsFunc(u.rules, func(r *rule) bool {
		return r.at != b && b.within(r.at) && r.expr.accepted() && r.expr.usesOld && tests(r.expr, b.name)
	})
}

func (b *branch) within(above *branch) bool {
	for b != nil && b != above {
		b = b.parent
	}
	return b != nil
}

func tests(x *compiled, field string) bool {
	ident, _ := types.Escape(field)
	return anyPart(x.ast.NativeRep().Expr(), func(e ast.Expr) bool { return isHas(e) && e.AsSelect().FieldName() == ident })
}

// optionalRead finds optional fields that are read without has(). If such a field is absent, evaluation fails with
// "no such key".
func optionalRead(in *inspection) *Lint {
	w, read := in.walk, (*exprPath)(nil)
	var guards []string // of all such fields, unless they belong to elements
	reads := map[string]bool{}
	w.visit(in.expr.ast.NativeRep().Expr(), func(e ast.Expr, at *exprPath) {
		if e.Kind() != ast.SelectKind || e.AsSelect().IsTestOnly() || at == nil || !w.mayFail(at) {
			return
		}
		if read == nil {
			read = at
		}
		reads[at.path] = true
		if !at.isFixed() || !read.isFixed() {
			return
		}
		at0 := len(guards)
		for p := at; p.above != nil; p = p.above {
			if test := "has(" + p.path + ")"; w.mayFail(p) && !slices.Contains(guards, test) {
				guards = slices.Insert(guards, at0, test)
			}
		}
	})
	if read == nil {
		return nil
	}
	if len(guards) == 0 {
		guards = []string{"has(" + read.path + ")"}
	}
	const absent = "%s is optional and is read without has(): if it is absent, the rule fails with \"no such key\"; "
	maps.DeleteFunc(reads, func(path string, _ bool) bool { // it is read to select a field of it
		for other := range reads {
			if strings.HasPrefix(other, path+".") {
				return true
			}
		}
		return false
	})
	if len(reads) > 1 && combines(in.expr.ast.NativeRep()) {
		return &Lint{Read: read.path, Message: fmt.Sprintf(absent+"test each with has() where it is read: %s", read.path, short(strings.Join(slices.Sorted(maps.Keys(reads)), ", ")))}
	}
	all := strings.Join(guards, " && ")
	none := "!" + all
	if len(guards) > 1 {
		none = "!(" + all + ")"
	}
	return &Lint{Read: read.path, Message: fmt.Sprintf(absent+"write %s && …, or %s || …", read.path, short(all), short(none))}
}

// combines reports whether a rule combines several conditions, so that a test of all fields in front of it would change
// the result of conditions that do not read them.
func combines(rule *ast.AST) bool {
	e := rule.Expr()
	if e.Kind() != ast.CallKind {
		return false
	}
	switch e.AsCall().FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional:
		return true
	case operators.Equals, operators.NotEquals:
		return slices.ContainsFunc(e.AsCall().Args(), func(arg ast.Expr) bool {
			return arg.Kind() == ast.CallKind && rule.GetType(arg.ID()) == celtypes.BoolType
		})
	}
	return false
}

func (p *exprPath) isFixed() bool {
	for ; p.above != nil; p = p.above {
		if p.elements {
			return false
		}
	}
	return p.from == nil && !p.elements
}

func (w *pathWalk) mayFail(p *exprPath) bool {
	return p.above != nil && !p.alwaysThere() && !w.tested[p.path]
}

// alwaysThere is also true for a field without a schema.
func (p *exprPath) alwaysThere() bool {
	f, ok := p.above.decl.Fields[p.name]
	if !ok || p.node == nil || f.Required || p.node.Default.Object != nil {
		return true
	}
	if p.above.decl.Root { // the server sets these
		return f.Name == "metadata" || f.Name == "apiVersion" || f.Name == "kind"
	}
	return f.Name == "name" && p.above.isOwnMetadata()
}

// The metadata of the object itself always has a name. The metadata of an embedded object can have only a
// generateName.
func (p *exprPath) isOwnMetadata() bool {
	self := p.above
	return p.name == "metadata" && self != nil && self.decl.Root && self.above == nil && self.from == nil && len(self.at) == 0
}
