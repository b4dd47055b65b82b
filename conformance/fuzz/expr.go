package fuzz

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/types"
)

type writer struct {
	choice
	lib   *Library
	paths []path
	vars  []variable
	// guards holds the presence tests that the current expression needs.
	guards []string
	nextID int
}

// path is an expression that leads from self or oldSelf to a node.
type path struct {
	expr   string
	decl   *types.Decl
	guards []string
}

type variable struct {
	name string
	t    *cel.Type
}

func newWriter(c choice, lib *Library, d *types.Decl, transition bool) *writer {
	w := &writer{choice: c, lib: lib}
	w.collect(path{expr: types.Self, decl: d}, 4)
	if transition {
		w.collect(path{expr: types.OldSelf, decl: d}, 3)
	}
	return w
}

func (w *writer) collect(p path, depth int) {
	w.paths = append(w.paths, p)
	if depth == 0 || len(w.paths) > 200 {
		return
	}
	switch p.decl.Kind {
	case types.Object:
		for _, name := range p.decl.FieldNames() {
			f := p.decl.Fields[name]
			if !f.Visible() {
				continue
			}
			expr := p.expr + "." + f.Escaped
			w.collect(path{expr, f.Decl, append(p.guards[:len(p.guards):len(p.guards)], "has("+expr+")")}, depth-1)
		}
	case types.List:
		guard := p.expr + ".size() > 0"
		w.collect(path{p.expr + "[0]", p.decl.Elem, append(p.guards[:len(p.guards):len(p.guards)], guard)}, depth-1)
	case types.Map:
		key := strconv.Quote(pick(w.choice, words))
		w.collect(path{p.expr + "[" + key + "]", p.decl.Elem, append(p.guards[:len(p.guards):len(p.guards)], key+" in "+p.expr)}, depth-1)
	}
}

// celType returns the CEL type of a declaration, or nil for objects and for lists and maps of them,
// because only paths have such types.
func celType(d *types.Decl) *cel.Type {
	leaf := d
	for leaf.Kind == types.List || leaf.Kind == types.Map {
		leaf = leaf.Elem
	}
	if leaf.Kind == types.Object {
		return nil
	}
	return celenv.CELType(d)
}

func (w *writer) rule() string {
	atom := w.atom()
	for range w.IntN(3) {
		switch w.IntN(5) {
		case 0:
			atom = "!(" + atom + ")"
		case 1:
			atom = "(" + atom + ") || " + w.atom()
		case 2:
			atom = "(" + atom + ") && " + w.atom()
		case 3:
			atom = "(" + atom + ") ? " + w.atom() + " : " + w.atom()
		}
	}
	return atom
}

// An atom usually begins with presence tests for the fields that it reads.
func (w *writer) atom() string {
	outer := w.guards
	w.guards = nil
	expr := w.condition()
	guards := w.guards
	w.guards = outer
	guarded := 2 // 1/guarded of the conditions read absent fields without a test
	if w.lenient {
		guarded = 6
	}
	if len(guards) == 0 || w.one(guarded) {
		return "(" + expr + ")"
	}
	fallback := pick(w.choice, []string{"true", "true", "false"})
	return "(" + strings.Join(guards, " && ") + " ? (" + expr + ") : " + fallback + ")"
}

func (w *writer) condition() string {
	if w.one(8) {
		return w.iterateAsDyn()
	}
	p := pick(w.choice, w.paths)
	if w.one(5) {
		p = w.mapPath(p)
	}
	switch w.IntN(8) {
	case 0:
		return w.samePlace(p)
	case 1, 2, 3:
		if t := celType(p.decl); t != nil {
			return w.use(p) + " " + pick(w.choice, []string{"==", "!=", "==", "!="}) + " " + w.expr(t, 2)
		}
	case 4, 5:
		if macro := w.quantifier(p); macro != "" {
			return macro
		}
	case 6:
		return w.any(3)
	}
	return w.expr(cel.BoolType, 3)
}

func (w *writer) mapPath(otherwise path) path {
	for _, i := range w.Perm(len(w.paths)) {
		if w.paths[i].decl.Kind == types.Map {
			return w.paths[i]
		}
	}
	return otherwise
}

// samePlace returns a comparison of the values at a path in self and oldSelf, or of a value with
// itself.
func (w *writer) samePlace(p path) string {
	other := p
	if rest, ok := strings.CutPrefix(p.expr, types.Self); ok {
		for _, q := range w.paths {
			if q.expr == types.OldSelf+rest {
				other = q
			}
		}
	}
	return w.use(p) + pick(w.choice, []string{" == ", " != "}) + w.use(other)
}

func (w *writer) use(p path) string {
	w.guards = append(w.guards, p.guards...)
	return p.expr
}

func (w *writer) quantifier(p path) string {
	if p.decl.Kind != types.List && p.decl.Kind != types.Map {
		return ""
	}
	t := cel.StringType
	if p.decl.Kind == types.List {
		if t = celType(p.decl.Elem); t == nil {
			t = cel.DynType
		}
	}
	macro := pick(w.choice, []string{"all", "exists", "exists_one", "all", "exists"})
	over := w.use(p)
	if w.one(4) {
		return w.twoVariables(over, macro, p)
	}
	name, body := w.scoped(t, func() string { return w.expr(cel.BoolType, 2) })
	return fmt.Sprintf("%s.%s(%s, %s)", over, macro, name, body)
}

func (w *writer) twoVariables(over, macro string, p path) string {
	if macro == "exists_one" {
		macro = "existsOne"
	}
	first, second := cel.StringType, celType(p.decl.Elem)
	if p.decl.Kind == types.List {
		first = cel.IntType
	}
	if second == nil {
		second = cel.DynType
	}
	i, rest := w.scoped(first, func() string {
		v, body := w.scoped(second, func() string { return w.expr(cel.BoolType, 2) })
		return v + ", " + body
	})
	return fmt.Sprintf("%s.%s(%s, %s)", over, macro, i, rest)
}

// scoped calls write with an additional variable in scope.
func (w *writer) scoped(t *cel.Type, write func() string) (name, body string) {
	w.nextID++
	name = fmt.Sprintf("v%d", w.nextID)
	w.vars = append(w.vars, variable{name, t})
	body = write()
	w.vars = w.vars[:len(w.vars)-1]
	return name, body
}

// any returns a condition with a call of a random overload. It chooses from all overloads, so that each is tested.
func (w *writer) any(depth int) string {
	o := pick(w.choice, w.lib.overloads)
	b := binding{}
	result := b.resolve(w.choice, o.decl.ResultType())
	expr := w.call(o, b, depth)
	switch {
	case result.Kind() == celtypes.BoolKind:
		return expr
	case head(result) == "list" || head(result) == "map":
		return "size(" + expr + ") > " + strconv.Itoa(w.IntN(3))
	}
	return expr + " == " + w.expr(result, 1)
}

func (w *writer) expr(t *cel.Type, depth int) string {
	if depth > 0 && t.Kind() == celtypes.ListKind && w.one(4) {
		return w.listMacro(t, depth-1)
	}
	if depth > 0 && w.one(2) {
		if o, b, ok := w.overloadFor(t); ok {
			return w.call(o, b, depth-1)
		}
	}
	if w.one(3) || depth == 0 {
		for _, i := range w.Perm(len(w.vars)) {
			if w.vars[i].t.IsExactType(t) {
				return w.vars[i].name
			}
		}
	}
	if w.one(2) {
		for range 6 {
			p := pick(w.choice, w.paths)
			if have := celType(p.decl); have != nil && have.IsExactType(t) {
				return w.use(p)
			}
		}
	}
	return w.literal(t, depth)
}

func (w *writer) overloadFor(t *cel.Type) (overload, binding, bool) {
	list := w.lib.byResult[head(t)]
	if w.one(4) {
		list = w.lib.byResult[""]
	}
	for range 4 {
		if len(list) == 0 {
			break
		}
		o := pick(w.choice, list)
		if b, ok := o.bind(t); ok {
			return o, b, true
		}
	}
	return overload{}, nil, false
}

func (w *writer) listMacro(t *cel.Type, depth int) string {
	elem := t.Parameters()[0]
	if w.one(2) {
		name, body := w.scoped(elem, func() string { return w.expr(cel.BoolType, depth) })
		return w.expr(t, depth) + ".filter(" + name + ", " + body + ")"
	}
	from := pick(w.choice, simpleTypes)
	name, body := w.scoped(from, func() string { return w.expr(elem, depth) })
	return w.expr(cel.ListType(from), depth) + ".map(" + name + ", " + body + ")"
}

func (w *writer) stringOf() string { return w.expr(cel.StringType, 2) }

func (w *writer) mentionsOld(rule string) bool { return strings.Contains(rule, types.OldSelf) }

func optionalForm(rule string) string {
	return strings.ReplaceAll(rule, types.OldSelf, types.OldSelf+".value()")
}
