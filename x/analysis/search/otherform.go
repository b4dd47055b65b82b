package search

import (
	"context"
	"math"
	"reflect"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine"
)

// How it works. Two forms of a CRD differ in some rules and at some schema paths. Objects are
// generated and repaired for the form that should admit them. Each round picks a random difference
// and tries to violate the other form there: it makes a rule of that form false or fail, or violates
// its schema.

type differences struct {
	rules []*rule
	paths [][]engine.Step
}

// Rejection searches for a write that s rejects, for any reason, and that another form of the same CRD
// version admits. In the witness, Alone is set even if the write has several causes, and Result is the
// verdict of s.
func (s *Search) Rejection(ctx context.Context, admits *Search) (*Answer, error) {
	if !s.served || !admits.served {
		return s.unserved(), nil
	}
	d := s.differencesFrom(admits)
	if len(d.rules)+len(d.paths) == 0 {
		return &Answer{Status: Unknown, Reason: "the two forms have the same rules and schema"}, nil
	}
	h := admits.newSolver(ctx, "refusal", s.cfg.Steps)
	h.other, h.differences, h.want = s, d, Rejected
	return h.try(math.MaxInt)
}

func (s *Search) differencesFrom(other *Search) *differences {
	d := &differences{}
	had := map[engine.RuleRef]bool{}
	for _, r := range other.rules {
		had[r.anywhere()] = true
	}
	for _, r := range s.rules {
		if !had[r.anywhere()] && r.compile(s) == nil {
			d.rules = append(d.rules, r)
		}
	}
	d.schemas(other.root.s, s.root.s, nil)
	return d
}

func (r *rule) anywhere() engine.RuleRef {
	ref := r.ref
	ref.Index = 0
	return ref
}

func (d *differences) schemas(a, b *schema.Structural, path []engine.Step) {
	if a == b {
		return
	}
	if !reflect.DeepEqual(itself(a), itself(b)) {
		d.paths = append(d.paths, path)
	}
	below := func(a, b *schema.Structural, s engine.Step) {
		if a != nil && b != nil {
			d.schemas(a, b, append(path[:len(path):len(path)], s))
		}
	}
	below(a.Items, b.Items, engine.Step{Any: true})
	for _, name := range (node{s: a}).names() {
		if to, ok := b.Properties[name]; ok {
			from := a.Properties[name]
			below(&from, &to, engine.Step{Name: name})
		}
	}
	if a.AdditionalProperties != nil && b.AdditionalProperties != nil {
		below(a.AdditionalProperties.Structural, b.AdditionalProperties.Structural, engine.Step{Any: true})
	}
}

// itself returns the constraints of a schema node without its children, rules, default, and
// documentation.
func itself(s *schema.Structural) schema.Structural {
	own := *s
	own.Items, own.Properties, own.AdditionalProperties = nil, nil, nil
	own.Title, own.Description, own.Default = "", "", schema.JSON{}
	own.XValidations = nil
	return own
}

func (h *solver) part(w *candidate) {
	d, rng := h.differences, h.maker.rng
	at := rng.IntN(len(d.rules) + len(d.paths))
	if at < len(d.rules) {
		h.partRule(w, d.rules[at])
		return
	}
	steps := d.paths[at-len(d.rules)]
	p, ok := h.reach(w, steps, false)
	if !ok || len(steps) == 0 && rng.IntN(4) > 0 {
		return
	}
	h.cross(w, p, h.other.root.at(steps))
}

func (h *solver) partRule(w *candidate, r *rule) {
	seen := h.as(h.other)
	seen.rule = r
	if w.old == nil && (r.transition() || r.usesOld() && h.maker.rng.IntN(2) == 0) {
		w.op, w.old = Update, copied(w.obj).(map[string]any)
	}
	seen.createPath(w)
	if at := r.instances(w, seen.root, false); len(at) > 0 {
		want := Rejected
		if h.maker.rng.IntN(4) == 0 {
			want = Errs
		}
		seen.steer(w, r, at[h.maker.rng.IntN(len(at))], want)
	}
}

// cross sets p to a value that its schema accepts and that may violate the other form's schema.
func (h *solver) cross(w *candidate, p objectPath, there node) {
	m := h.maker
	mine, other := m.facts(p.node, nil), m.facts(there, nil)
	b := h.newAdjuster(w, nil, instance{})
	if p.node.nullable() && !there.nullable() && m.rng.IntN(2) == 0 {
		w.put(p, nil)
		return
	}
	v, _ := w.get(p)
	switch v := v.(type) {
	case map[string]any:
		h.crossObject(b, p, v, other)
		return
	case []any:
		crossList(b, p, v, there, other)
		return
	}
	if fresh := m.beyond(mine, other); fresh != nil && b.assign(handle{objectPath: p}, fresh) {
		return
	}
	if fresh := m.value(p.node, nil, 0); fresh != nil {
		w.put(p, fresh)
	}
}

func crossList(b *adjuster, p objectPath, v []any, there node, other *facts) {
	unique := there.isSet() || there.listKeys() != nil
	switch {
	case unique && (len(v) > 0 || b.add(p)) && b.m.rng.IntN(2) == 0:
		item, _ := b.w.get(p.item(0))
		list, _ := b.w.get(p)
		b.w.put(p, append(slices.Clone(list.([]any)), copied(item)))
	case other.maxItems >= 0 && b.m.rng.IntN(4) > 0:
		b.sizeAt(handle{objectPath: p}, other.maxItems+1, -1)
	default:
		b.sizeAt(handle{objectPath: p}, 0, max(other.minItems-1, 0))
	}
}

func (h *solver) crossObject(b *adjuster, p objectPath, v map[string]any, other *facts) {
	for _, name := range shuffled(other.required, h.maker.rng) {
		if at := p.field(name); b.optional(at) && b.w.drop(at) {
			return
		}
	}
	hi := other.minProperties - 1
	if hi >= 0 && len(v) > hi {
		for _, name := range sortedKeys(v)[hi:] {
			b.w.drop(p.field(name))
		}
		return
	}
	if other.maxProperties >= 0 && other.maxProperties < maxItems {
		for range other.maxProperties + 1 - len(v) {
			b.add(p)
		}
		return
	}
	b.perturb(handle{objectPath: p})
}

// beyond returns a random scalar that mine probably allows and other probably does not, or nil if it finds no such
// value.
func (m *maker) beyond(mine, other *facts) any {
	var pool []any
	for _, e := range mine.enum {
		n, isNumber := e.(int64)
		text, isText := e.(string)
		listed := len(other.enum) == 0 || slices.ContainsFunc(other.enum, func(o any) bool { return equalJSON(e, o) })
		if !listed || isNumber && !other.fits(float64(n)) || isText && !m.texts.has(other.text, text) {
			pool = append(pool, e)
		}
	}
	if len(mine.enum) == 0 {
		pool = append(beyondNumber(mine, other), m.beyondText(mine, other)...)
	}
	if len(pool) == 0 {
		return nil
	}
	return pool[m.rng.IntN(len(pool))]
}

func beyondNumber(mine, other *facts) (pool []any) {
	var edges []float64
	if other.min != nil {
		edges = append(edges, *other.min)
	}
	if other.max != nil {
		edges = append(edges, *other.max)
	}
	if other.multipleOf > 0 {
		edges = append(edges, other.multipleOf)
	}
	for _, edge := range edges {
		for _, v := range []float64{math.Ceil(edge) - 1, math.Floor(edge) + 1, math.Floor(edge)} {
			if mine.fits(v) && !other.fits(v) && math.Abs(v) < 1<<53 {
				pool = append(pool, int64(v))
			}
		}
	}
	return pool
}

func (m *maker) beyondText(mine, other *facts) (pool []any) {
	var wants []textWant
	for _, p := range other.text.match {
		wants = append(wants, textWant{avoid: []string{p}, max: -1})
	}
	if other.text.max >= 0 {
		wants = append(wants, textWant{min: other.text.max + 1, max: -1})
	}
	if other.text.min > 0 {
		wants = append(wants, textWant{max: other.text.min - 1})
	}
	for _, w := range wants {
		if s, ok := m.texts.one(mine.text.and(w), m.rng); ok {
			pool = append(pool, s)
		}
	}
	return pool
}
