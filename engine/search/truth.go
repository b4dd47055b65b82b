package search

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/internal/expr"
	"github.com/celadon-cel/celadon/types"
)

// How it works: an expression is evaluated backwards. To make && true both sides
// are made true, to make it false one of them, by lot; to make a == b one side
// is set to what the other is, and so on down to the fields that are read.
// Whether that did it is always asked of the engine's evaluation, so a move that
// is wrong costs steps and nothing else.

// truth makes a condition true or false, and says whether it now is.
func (b *bender) truth(e ast.Expr, sc *scope, want bool) bool {
	if b.is(e, sc, want) {
		return true
	}
	if b.spent() {
		return false
	}
	switch e.Kind() {
	case ast.IdentKind:
		if at := sc.find(e.AsIdent()); at != nil && at.of.from != nil {
			return b.truth(at.of.from, at.of.in, want)
		}
		b.equal(e, sc, want)
	case ast.SelectKind:
		if e.AsSelect().IsTestOnly() {
			b.presence(e, sc, want)
		} else {
			b.equal(e, sc, want)
		}
	case ast.ComprehensionKind:
		b.macro(e, sc, want)
	case ast.CallKind:
		b.call(e, sc, want)
	}
	return b.is(e, sc, want)
}

func (b *bender) call(e ast.Expr, sc *scope, want bool) {
	call := e.AsCall()
	args := call.Args()
	switch call.FunctionName() {
	case operators.LogicalNot:
		b.truth(args[0], sc, !want)
	case operators.LogicalAnd:
		b.junction(args, sc, true, want)
	case operators.LogicalOr:
		b.junction(args, sc, false, want)
	case operators.Conditional:
		b.conditional(args, sc, func(branch ast.Expr) bool { return b.truth(branch, sc, want) })
	case operators.Equals:
		b.same(args[0], args[1], sc, want, e)
	case operators.NotEquals:
		b.same(args[0], args[1], sc, !want, e)
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		b.order(e, sc, want)
	case operators.In:
		b.member(e, sc, want)
	case "hasValue":
		b.hasValue(e, sc, want)
	case "isURL", "isIP", "isCIDR", "isQuantity":
		for _, p := range wellFormed[call.FunctionName()] {
			if want && b.wantText(args[0], sc, textWant{match: []string{p}, max: -1}) && b.is(e, sc, true) {
				return
			}
		}
		b.sample(e, sc, want)
	case "matches", "startsWith", "endsWith", "contains":
		if !b.textCall(call, sc, want) {
			b.sample(e, sc, want)
		}
	default:
		if h, ok := b.locate(e, sc); ok && !h.key {
			b.assign(h, want)
			return
		}
		b.sample(e, sc, want)
	}
}

// junction makes && (neutral is true) or || (false) what is wanted.
func (b *bender) junction(args []ast.Expr, sc *scope, neutral, want bool) {
	if want == neutral { // both
		for range 2 {
			b.truth(args[0], sc, want)
			if b.truth(args[1], sc, want) && b.is(args[0], sc, want) {
				return
			}
		}
		return
	}
	first := b.m.rng.IntN(2)
	before := b.w.clone()
	if !b.truth(args[first], sc, want) {
		*b.w = *before
		b.truth(args[1-first], sc, want)
	}
}

// conditional bends one branch of ?:, most often the one that counts now.
func (b *bender) conditional(args []ast.Expr, sc *scope, bend func(branch ast.Expr) bool) bool {
	now := b.is(args[0], sc, true)
	first := now != (b.m.rng.IntN(4) == 0)
	before := b.w.clone()
	for _, side := range []bool{first, !first} {
		if side != first {
			*b.w = *before
		}
		if !b.truth(args[0], sc, side) {
			continue
		}
		branch := args[2]
		if side {
			branch = args[1]
		}
		if bend(branch) {
			return true
		}
	}
	return false
}

// presence makes has() what is wanted.
func (b *bender) presence(e ast.Expr, sc *scope, want bool) {
	h, ok := b.locateField(e.AsSelect().Operand(), e.AsSelect().FieldName(), sc)
	if !ok || h.key {
		return
	}
	switch {
	case want:
		b.ensure(h.place)
	case b.optional(h.place):
		b.w.drop(h.place)
	}
}

func (b *bender) hasValue(e ast.Expr, sc *scope, want bool) {
	if of := e.AsCall().Target(); of.Kind() == ast.IdentKind && of.AsIdent() == types.OldSelf && want && !b.in.hasOld {
		b.giveOld()
		return
	}
	h, ok := b.locate(e.AsCall().Target(), sc)
	switch {
	case !ok || h.key:
		b.sample(e, sc, want)
	case want:
		b.ensure(h.place)
	default:
		b.absent(h.place)
	}
}

// giveOld makes an old value for the instance, like the new one.
func (b *bender) giveOld() {
	if b.w.op == Create {
		b.w.op, b.w.old = Update, copied(b.w.obj).(map[string]any)
	}
	at := place{old: true, node: b.s.root}
	for i, s := range b.in.self.path {
		fresh := place{path: b.in.self.path[:i+1]}
		if before, ok := b.w.correlate(place{path: fresh.path}, b.s.root); ok {
			at = before
			continue
		}
		if at = at.step(s); s.Item {
			list, _ := b.w.get(at.parent(b.s.root))
			items, _ := list.([]any)
			at = at.parent(b.s.root).item(len(items))
		}
		v, ok := b.w.get(fresh)
		if !ok || !b.w.putIn(at, copied(v)) {
			return
		}
	}
	b.in.before, b.in.hasOld = b.w.correlate(b.in.self, b.s.root)
}

// absent takes a field away, or the nearest above that may go.
func (b *bender) absent(p place) bool {
	for len(p.path) > len(b.in.self.path) {
		if b.optional(p) {
			return b.w.drop(p)
		}
		p = p.parent(b.s.root)
	}
	return false
}

// optional: the place may be taken away, and stays away.
func (b *bender) optional(p place) bool {
	if len(p.path) == 0 || p.node.hasDefault() {
		return false
	}
	up := p.parent(b.s.root)
	name := p.path[len(p.path)-1].Name
	for _, required := range up.node.required() {
		if required == name {
			return false
		}
	}
	for _, k := range up.parentKeys(b.s.root) {
		if k == name {
			return false
		}
	}
	return true
}

// parentKeys are the keys of the map list that an item stands in.
func (p place) parentKeys(root node) []string {
	if len(p.path) == 0 || !p.path[len(p.path)-1].Item {
		return nil
	}
	return p.parent(root).node.listKeys()
}

// same makes two parts equal or not.
func (b *bender) same(x, y ast.Expr, sc *scope, want bool, whole ast.Expr) {
	if want {
		if b.m.rng.IntN(2) == 0 {
			x, y = y, x
		}
		if !b.alike(x, y, sc) && !b.alike(y, x, sc) {
			b.exist(whole, sc)
			if !b.alike(x, y, sc) {
				b.alike(y, x, sc)
			}
		}
		return
	}
	if b.m.rng.IntN(2) == 0 {
		x, y = y, x
	}
	if !b.differ(x, sc, whole) && !b.differ(y, sc, whole) {
		b.sampleOutcome(whole, sc, func() bool { return celtypes.IsBool(b.eval(whole, sc)) && !b.same2(x, y, sc) })
	}
}

func (b *bender) same2(x, y ast.Expr, sc *scope) bool {
	a, ok := b.eval(x, sc), b.eval(y, sc)
	return a != nil && ok != nil && a.Equal(ok) == celtypes.True
}

// alike sets x to what y is.
func (b *bender) alike(x, y ast.Expr, sc *scope) bool {
	v := b.eval(y, sc)
	if v == nil || celtypes.IsUnknownOrError(v) {
		return false
	}
	if o, ok := v.(*celtypes.Optional); ok && !o.HasValue() {
		if h, ok := b.locate(x, sc); ok {
			return b.absent(h.place)
		}
		return false
	}
	return b.equal(x, sc, expr.Native(v)) && b.eval(x, sc).Equal(v) == celtypes.True
}

// exist makes all that a part reads be there.
func (b *bender) exist(e ast.Expr, sc *scope) {
	for _, h := range b.handles(e, sc) {
		if _, ok := b.w.get(h.place); !ok {
			b.ensure(h.place)
		}
	}
}

// order makes a comparison what is wanted.
func (b *bender) order(e ast.Expr, sc *scope, want bool) {
	x, y := e.AsCall().Args()[0], e.AsCall().Args()[1]
	name := e.AsCall().FunctionName()
	less := (name == operators.Less || name == operators.LessEquals) == want
	strict := (name == operators.Less || name == operators.Greater) == want
	if !less {
		x, y = y, x // now x must be below y
	}
	gap := 0
	if strict {
		gap = 1
	}
	if b.m.rng.IntN(4) == 0 {
		gap += b.m.rng.IntN(3)
	}
	move := func(side, other ast.Expr, by int) bool {
		v := b.eval(other, sc)
		if v == nil || celtypes.IsUnknownOrError(v) {
			return false
		}
		target, ok := shifted(v, by)
		return ok && b.equal(side, sc, expr.Native(target)) && b.is(e, sc, want)
	}
	quiet := b.quiet
	b.quiet = true
	for range 2 {
		if b.m.rng.IntN(2) == 0 {
			if move(x, y, -gap) || move(y, x, gap) {
				break
			}
		} else if move(y, x, gap) || move(x, y, -gap) {
			break
		}
		b.exist(e, sc)
	}
	if b.quiet = quiet; !b.is(e, sc, want) {
		b.sample(e, sc, want)
	}
}

// shifted is a value so much above another.
func shifted(v ref.Val, by int) (ref.Val, bool) {
	switch v := v.(type) {
	case celtypes.Int:
		return v + celtypes.Int(by), true
	case celtypes.Uint:
		if by < 0 && uint64(v) < uint64(-by) {
			return v, false
		}
		return celtypes.Uint(int64(v) + int64(by)), true
	case celtypes.Double:
		return v + celtypes.Double(by), true
	case celtypes.Duration:
		return v.Add(celtypes.Duration{Duration: seconds(by)}), true
	case celtypes.Timestamp:
		return v.Add(celtypes.Duration{Duration: seconds(by)}), true
	case celtypes.String:
		if by > 0 {
			return v + "a", true
		}
		if by < 0 && v != "" {
			return v[:len(v)-1], true
		}
		return v, by == 0
	}
	return nil, false
}

// member makes "in" what is wanted.
func (b *bender) member(e ast.Expr, sc *scope, want bool) {
	x, of := e.AsCall().Args()[0], e.AsCall().Args()[1]
	if !want {
		if b.m.rng.IntN(2) == 0 && b.expel(x, of, sc) && b.is(e, sc, false) {
			return
		}
		if !b.differ(x, sc, e) {
			b.expel(x, of, sc)
		}
		return
	}
	if b.m.rng.IntN(3) == 0 && b.admit(x, of, sc) {
		return
	}
	all := elementsOf(b.eval(of, sc))
	for _, i := range b.m.rng.Perm(len(all)) {
		if b.equal(x, sc, expr.Native(all[i])) && b.is(e, sc, true) {
			return
		}
	}
	if !b.admit(x, of, sc) {
		b.exist(e, sc)
		b.admit(x, of, sc)
	}
}

// expel takes a value out of a list or map.
func (b *bender) expel(x, of ast.Expr, sc *scope) bool {
	v := b.eval(x, sc)
	for _, el := range b.elements(of, sc) {
		if now := b.now(el); now != nil && now.Equal(v) == celtypes.True {
			return b.dropElement(el)
		}
	}
	return false
}

// now is a binding's value.
func (b *bender) now(of binding) ref.Val { return b.bound(of) }

// admit puts a value into a list, or as a key into a map.
func (b *bender) admit(x, of ast.Expr, sc *scope) bool {
	v, ok := b.native(x, sc)
	if !ok {
		return false
	}
	h, ok := b.locate(of, sc)
	if !ok || h.key {
		elements := b.elements(of, sc)
		if len(elements) == 0 {
			if !b.grow(of, sc) {
				return false
			}
			elements = b.elements(of, sc)
		}
		for _, el := range elements {
			if b.equalBinding(el, v) {
				return true
			}
		}
		return false
	}
	if name, ok := v.(string); ok && h.node.isMap() {
		return b.ensure(h.field(name))
	}
	list, _ := b.w.get(h.place)
	items, _ := list.([]any)
	if items == nil && !b.ensure(h.place) {
		return false
	}
	f := b.m.facts(h.node, nil)
	if f.maxItems >= 0 && len(items) >= f.maxItems && len(items) > 0 {
		return b.assign(handle{place: h.item(len(items) - 1)}, v)
	}
	return b.assign(handle{place: h.place}, append(items[:len(items):len(items)], v))
}
