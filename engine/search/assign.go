package search

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
)

// assign sets a handle to a value, and makes what leads there. It refuses what
// its schema surely does not take.
func (b *bender) assign(h handle, v any) bool {
	if v == nil {
		return !h.key && b.absent(h.place)
	}
	if h.key {
		name, ok := v.(string)
		return ok && b.rename(h.place, name)
	}
	v, ok := b.suits(h.node, v)
	if !ok || !b.ensureParent(h.place) {
		return false
	}
	return b.w.put(h.place, copied(v))
}

// suits brings a value into the form of a schema.
func (b *bender) suits(n node, v any) (any, bool) {
	switch n.kind() {
	case "integer":
		if f, ok := v.(float64); ok && f == float64(int64(f)) {
			return int64(f), true
		}
		_, ok := v.(int64)
		return v, ok && b.listed(n, v)
	case "number":
		switch v.(type) {
		case int64, float64:
			return v, true
		}
		return v, false
	case "boolean":
		_, ok := v.(bool)
		return v, ok && b.listed(n, v)
	case "string":
		_, ok := v.(string)
		return v, ok && b.listed(n, v)
	case "intOrString":
		switch v.(type) {
		case int64, string:
			return v, true
		}
		return v, false
	case "array":
		_, ok := v.([]any)
		return v, ok
	case "object":
		_, ok := v.(map[string]any)
		return v, ok
	}
	return v, true
}

// listed: an enum has the value.
func (b *bender) listed(n node, v any) bool {
	if n.s == nil || n.s.ValueValidation == nil || len(n.s.ValueValidation.Enum) == 0 {
		return true
	}
	for _, e := range n.s.ValueValidation.Enum {
		if equalJSON(e.Object, v) {
			return true
		}
	}
	return false
}

// rename gives a map's entry another key.
func (b *bender) rename(p place, name string) bool {
	v, ok := b.w.get(p)
	if !ok {
		return false
	}
	to := p.parent(b.s.root).field(name)
	if _, there := b.w.get(to); there {
		return false
	}
	v = copied(v)
	b.w.drop(p)
	return b.w.put(to, v)
}

// ensure makes a place be there, with what leads to it.
func (b *bender) ensure(p place) bool {
	if v, ok := b.w.get(p); ok && v != nil {
		return true
	}
	if !b.ensureParent(p) {
		return false
	}
	if len(p.path) > 0 && p.path[len(p.path)-1].Item && p.path[len(p.path)-1].Name == "" && !p.parent(b.s.root).node.isMap() {
		return b.fill(p)
	}
	v := b.m.value(p.node, nil, 0)
	return v != nil && b.w.put(p, v)
}

func (b *bender) ensureParent(p place) bool {
	if len(p.path) == 0 {
		return b.w.root(p.old) != nil
	}
	return b.ensure(p.parent(b.s.root))
}

// fill adds items until there is one at an index.
func (b *bender) fill(p place) bool {
	up := p.parent(b.s.root)
	for range p.path[len(p.path)-1].Index + 1 {
		if _, ok := b.w.get(p); ok {
			return true
		}
		if b.spent() || !b.add(up) {
			return false
		}
	}
	_, ok := b.w.get(p)
	return ok
}

// textCall makes matches, startsWith, endsWith or contains what is wanted.
func (b *bender) textCall(call ast.CallExpr, sc *scope, want bool) bool {
	operand, arg := call.Target(), ast.Expr(nil)
	switch {
	case call.IsMemberFunction() && len(call.Args()) == 1:
		arg = call.Args()[0]
	case len(call.Args()) == 2:
		operand, arg = call.Args()[0], call.Args()[1]
	default:
		return false
	}
	s, ok := b.eval(arg, sc).(celtypes.String)
	if !ok {
		b.exist(arg, sc)
		if s, ok = b.eval(arg, sc).(celtypes.String); !ok {
			return false
		}
	}
	p := string(s)
	switch call.FunctionName() {
	case "startsWith":
		p = `\A` + regexp.QuoteMeta(p)
	case "endsWith":
		p = regexp.QuoteMeta(p) + `\z`
	case "contains":
		p = regexp.QuoteMeta(p)
	}
	w := textWant{match: []string{p}, max: -1}
	if !want {
		w.match, w.avoid = nil, w.match
	}
	return b.wantText(operand, sc, w)
}

// wantText makes a part a text of some kind.
func (b *bender) wantText(e ast.Expr, sc *scope, w textWant) bool {
	if b.spent() {
		return false
	}
	if h, ok := b.locate(e, sc); ok {
		return b.textAt(h, w)
	}
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "string" {
		if h, ok := b.locate(e.AsCall().Args()[0], sc); ok && h.node.d != nil && h.node.d.Kind == types.Bytes {
			return b.bytesAt(h, w)
		}
	}
	done := func() bool {
		now, _ := b.native(e, sc)
		s, ok := now.(string)
		return ok && b.m.texts.has(w, s)
	}
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Add && b.wantSum(e.AsCall().Args(), sc, w) && done() {
		return true
	}
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "find" && len(e.AsCall().Args()) == 1 {
		if p, ok := b.eval(e.AsCall().Args()[0], sc).(celtypes.String); ok {
			if b.wantText(e.AsCall().Target(), sc, w.and(textWant{match: []string{string(p)}, max: -1})) && done() {
				return true
			}
		}
	}
	if e.Kind() == ast.CallKind {
		if shape := shapes[e.AsCall().FunctionName()]; shape != "" {
			w = w.and(textWant{match: []string{shape}, max: -1})
		}
	}
	if s, ok := b.m.texts.one(w, b.m.rng); ok && b.equal(e, sc, s) && done() {
		return true
	}
	return b.sampleOutcome(e, sc, done)
}

// wantSum makes one operand of + such that the sum is a text of some kind.
func (b *bender) wantSum(args []ast.Expr, sc *scope, w textWant) bool {
	first := b.m.rng.IntN(2)
	for _, i := range []int{first, 1 - first} {
		other, ok := b.eval(args[1-i], sc).(celtypes.String)
		if !ok {
			continue
		}
		p, cut := `\A`+regexp.QuoteMeta(string(other)), strings.TrimPrefix
		if i == 0 {
			p, cut = regexp.QuoteMeta(string(other))+`\z`, strings.TrimSuffix
		}
		if s, ok := b.m.texts.one(w.and(textWant{match: []string{p}, max: -1}), b.m.rng); ok && b.equal(args[i], sc, cut(s, string(other))) {
			return true
		}
	}
	return false
}

// textAt sets a handle to a text of some kind, one that its schema takes and,
// where there is one, that fits what was wanted of it before.
func (b *bender) textAt(h handle, w textWant) bool {
	f := &facts{text: anyText()}
	if !h.key {
		f = b.m.facts(h.node, nil)
	}
	for _, e := range shuffled(f.enum, b.m.rng) {
		if s, ok := e.(string); ok && b.m.texts.has(w, s) {
			return b.assign(h, s)
		}
	}
	if len(f.enum) > 0 {
		return false
	}
	id := h.id()
	before, had := b.wants[id]
	tries := []textWant{f.text.and(w), w}
	if had {
		tries = []textWant{f.text.and(before).and(w), f.text.and(w), w}
	}
	for i, try := range tries {
		readable := try
		readable.min = max(try.min, 1)
		s, ok := b.m.texts.one(readable, b.m.rng)
		if !ok {
			s, ok = b.m.texts.one(try, b.m.rng)
		}
		if !ok {
			continue
		}
		if b.wants[id] = w; had && i == 0 {
			b.wants[id] = before.and(w)
		}
		return b.assign(h, s)
	}
	return false
}

// bytesAt is textAt for bytes, which an object has in base64: its schema's
// lengths are those of that.
func (b *bender) bytesAt(h handle, w textWant) bool {
	f := b.m.facts(h.node, nil)
	bounds := textWant{min: (f.text.min + 3) / 4 * 3, max: -1}
	if f.text.max >= 0 {
		bounds.max = f.text.max / 4 * 3
	}
	id := h.id()
	before, had := b.wants[id]
	if s, ok := b.m.texts.one(bounds.and(w).and(before), b.m.rng); had && ok {
		b.wants[id] = before.and(w)
		return b.assign(h, base64.StdEncoding.EncodeToString([]byte(s)))
	}
	s, ok := b.m.texts.one(bounds.and(w), b.m.rng)
	if b.wants[id] = w; !ok {
		return false
	}
	return b.assign(h, base64.StdEncoding.EncodeToString([]byte(s)))
}

// id names a handle in one world.
func (h handle) id() string {
	var b strings.Builder
	if h.old {
		b.WriteByte('<')
	}
	b.WriteString(engine.FormatPath(h.path))
	if h.key {
		b.WriteByte('?')
	}
	return b.String()
}

// handles are what a part reads, outside of the bodies of macros.
func (b *bender) handles(e ast.Expr, sc *scope) (all []handle) {
	if b.spent() {
		return nil
	}
	test := e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly()
	if h, ok := b.locate(e, sc); ok && !test {
		return []handle{h}
	}
	switch e.Kind() {
	case ast.IdentKind:
		if at := sc.find(e.AsIdent()); at != nil && at.of.from != nil {
			return b.handles(at.of.from, at.of.in)
		}
	case ast.SelectKind:
		return b.handles(e.AsSelect().Operand(), sc)
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			all = append(all, b.handles(item, sc)...)
		}
	case ast.ComprehensionKind:
		l, ok := loopOf(e)
		if !ok {
			return b.handles(e.AsComprehension().IterRange(), sc)
		}
		all = b.handles(l.Over, sc)
		for i, of := range b.elements(l.Over, sc) {
			if i < 3 {
				all = append(all, b.handles(l.Body, l.enter(b, sc, of))...)
			}
		}
	case ast.CallKind:
		call := e.AsCall()
		if call.IsMemberFunction() {
			all = b.handles(call.Target(), sc)
		}
		for _, arg := range call.Args() {
			all = append(all, b.handles(arg, sc)...)
		}
	}
	return all
}

// literals are the constants in a part.
func literals(e ast.Expr) (all []any) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.LiteralKind {
			switch v := e.AsLiteral().(type) {
			case celtypes.String:
				all = append(all, string(v))
			case celtypes.Int:
				all = append(all, int64(v))
			case celtypes.Double:
				all = append(all, float64(v))
			}
		}
	}))
	return all
}

// readsField: an expression mentions self.NAME.
func readsField(e ast.Expr, name string) (found bool) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.SelectKind:
			found = found || e.AsSelect().FieldName() == name
		case ast.CallKind:
			if e.AsCall().FunctionName() == operators.OptSelect {
				found = found || e.AsCall().Args()[1].AsLiteral() == celtypes.String(name)
			}
		}
	}))
	return found
}

// sample tries values for what a condition reads, where nothing better is known.
func (b *bender) sample(e ast.Expr, sc *scope, want bool) bool {
	return b.sampleOutcome(e, sc, func() bool { return b.is(e, sc, want) })
}

// sampleTries is how many values are tried where nothing better is known.
const sampleTries = 30

func (b *bender) sampleOutcome(e ast.Expr, sc *scope, done func() bool) bool {
	if b.quiet {
		return false
	}
	handles := b.handles(e, sc)
	if len(handles) == 0 {
		return false
	}
	if b.exist(e, sc); done() {
		return true
	}
	known := literals(e)
	for range sampleTries {
		if b.spent() {
			return false
		}
		h := handles[b.m.rng.IntN(len(handles))]
		at := h.place
		if h.key {
			at.path = at.path[:len(at.path)-1]
		}
		restore := b.w.keep(at)
		if v, ok := b.candidate(h, known); ok && b.assign(h, v) && done() {
			return true
		}
		restore()
	}
	return false
}

// candidate is a value for a handle, by lot.
func (b *bender) candidate(h handle, known []any) (any, bool) {
	rng := b.m.rng
	switch kind := h.node.kind(); {
	case h.key || kind == "string" || kind == "intOrString" && rng.IntN(2) == 0:
		return b.candidateText(h, known)
	case kind == "integer" || kind == "number" || kind == "intOrString":
		now, _ := b.w.get(h.place)
		n, _ := now.(int64)
		pool := []any{int64(0), int64(1), int64(-1), n + 1, n - 1, n * 2, int64(rng.IntN(100)), b.m.value(h.node, nil, 0)}
		for _, v := range known {
			if i, ok := v.(int64); ok {
				pool = append(pool, i, i+1, i-1)
			}
		}
		v := pool[rng.IntN(len(pool))]
		return v, v != nil
	case kind == "boolean":
		return rng.IntN(2) == 0, true
	}
	if rng.IntN(3) == 0 && b.add(h.place) {
		v, ok := b.w.get(h.place)
		return v, ok
	}
	v := b.m.value(h.node, nil, 0)
	return v, v != nil
}

func (b *bender) candidateText(h handle, known []any) (any, bool) {
	rng := b.m.rng
	f := &facts{text: anyText()}
	if !h.key {
		f = b.m.facts(h.node, nil)
	}
	if len(f.enum) > 0 {
		return f.enum[rng.IntN(len(f.enum))], true
	}
	var pool []string
	for _, v := range known {
		if s, ok := v.(string); ok {
			pool = append(pool, s, s+"a", "a"+s)
		}
	}
	if rng.IntN(4) > 0 {
		pool = append(pool, usual...)
	}
	fitting := slices.DeleteFunc(pool, func(s string) bool { return !b.m.texts.has(f.text, s) })
	if before, ok := b.wants[h.id()]; ok {
		if both := slices.DeleteFunc(slices.Clone(fitting), func(s string) bool { return !b.m.texts.has(before, s) }); len(both) > 0 && rng.IntN(4) > 0 {
			fitting = both
		}
	}
	if len(fitting) == 0 || rng.IntN(5) == 0 {
		return b.m.texts.one(f.text, rng)
	}
	return fitting[rng.IntN(len(fitting))], true
}
