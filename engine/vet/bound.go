package vet

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/celcost"
	"github.com/celadon-cel/celadon/types"
)

type bound struct {
	path string // "spec.hosts[*]"
	// field is the path of the value's schema props in the CRD.
	field   string
	props   *apiextensions.JSONSchemaProps
	keyword string // maxLength, maxItems, maxProperties
	// assumed is the size that the estimate uses for a missing bound; 0 if the bound is declared.
	assumed  int64
	declared int64
	minimum  int64
	// bytes is the number of units of the estimate for a unit of the bound.
	bytes int64
}

func (b *bound) missing() bool { return b.assumed > 0 }

// of fills in b from the declaration of its value and returns b, or nil if no keyword of the schema determines the
// size.
func (b *bound) of(d *types.Decl) *bound {
	b.bytes = 1
	switch d.Kind {
	case types.List:
		b.keyword = "maxItems"
	case types.Map:
		b.keyword = "maxProperties"
	case types.String, types.IntOrString:
		b.keyword, b.bytes = "maxLength", 4
	case types.Bytes:
		b.keyword = "maxLength"
	default:
		return nil
	}
	switch d.Max.Source {
	case types.Assumed:
		b.assumed = d.Max.Max
	case types.Declared:
		b.declared = d.Max.Max / b.bytes
	default:
		return nil
	}
	return b
}

func (b *bound) ofAny(d *types.Decl, others []*reestimator) *bound {
	found := b.of(d)
	for _, o := range others {
		if found == nil && d.Schema != nil { // a computed value has no schema
			found = b.of(o.declared(d))
		}
	}
	return found
}

type dependence struct {
	sizes   map[string]*bound // by celcost.Path from self
	factors []*bound          // the lists and maps around the rule, as in its cardinality
	all     []*bound
}

func (ad *advisor) intern(b *bound) *bound {
	if b == nil {
		return nil
	}
	key := b.path + " " + b.keyword
	if known := ad.byPath[key]; known != nil {
		return known
	}
	ad.byPath[key] = b
	return b
}

func (ad *advisor) of(r *rule) *dependence {
	if d := ad.ofRule[r]; d != nil {
		return d
	}
	d := &dependence{sizes: map[string]*bound{}}
	for _, f := range r.cardinality.Factors {
		at := r.at.above(f.Path)
		b := r.unit.boundAt(at.steps())
		if b == nil { // the node has items and additionalProperties
			b = &bound{path: f.Path, props: at.props, minimum: 1}
		}
		b.keyword, b.bytes, b.declared = f.Word(), 1, int64(f.Max)
		if !f.Bounded {
			b.assumed = at.assumed()
		}
		d.factors = append(d.factors, ad.intern(b))
	}
	base := r.at.steps()
	for _, x := range r.compiledParts() {
		listen := &celcost.Assumption{OnSize: func(path []string, decl *types.Decl) {
			key := celcost.Path(path)
			if _, ok := d.sizes[key]; ok {
				return
			}
			d.sizes[key] = nil
			steps := append(base[:len(base):len(base)], stepsOf(x.key.Decl, path)...)
			if b := r.unit.boundAt(steps); b != nil && !isBelow(b.path, "metadata") { // where no bound can be set
				d.sizes[key] = ad.intern(b.ofAny(decl, ad.others))
			}
		}}
		celcost.For(x.base.Version()).If(x.ast, x.key.Decl, listen)
	}
	all := slices.Clone(d.factors)
	for _, path := range sortedKeys(d.sizes) {
		all = append(all, d.sizes[path])
	}
	for _, b := range all {
		if b != nil && !slices.Contains(d.all, b) {
			d.all = append(d.all, b)
		}
	}
	ad.ofRule[r] = d
	return d
}

func (b *branch) above(path string) *branch {
	for b.objectPath() != path {
		b = b.parent
	}
	return b
}

func (b *branch) assumed() int64 {
	node, err := b.structuralNode()
	if err != nil {
		return math.MaxInt64
	}
	if size := types.FromSchema(node, types.Subtree).Max.Max; size > 0 {
		return size
	}
	return math.MaxInt64 // it contains nothing visible to CEL
}

func (r *rule) compiledParts() []*compiled {
	var parts []*compiled
	for _, x := range []*compiled{r.expr, r.message} {
		if x.accepted() {
			parts = append(parts, x)
		}
	}
	return parts
}

func stepsOf(d *types.Decl, path []string) []engine.Step {
	steps := make([]engine.Step, 0, len(path))
	for _, name := range path {
		if d == nil || name[0] == '@' {
			steps = append(steps, engine.Step{Any: true})
			if d != nil {
				d = d.Elem
			}
			continue
		}
		f, ok := d.ByIdent(name)
		if !ok {
			return append(steps, engine.Step{Name: name})
		}
		steps, d = append(steps, engine.Step{Name: f.Name}), f.Decl
	}
	return steps
}

type values map[*bound]int64

type price struct{ total, message uint64 }

func (p price) all() uint64 { return cost.Add(p.total, p.message) }

// price returns the cost in the version where it is largest.
func (ad *advisor) price(r *rule, set values) price {
	if len(set) == 0 && len(ad.others) == 0 {
		return price{r.total, r.message.estimate()}
	}
	d, key := ad.of(r), strconv.Itoa(r.number)
	for _, b := range d.all {
		if v, ok := set[b]; ok {
			key += fmt.Sprintf(" %p=%d", b, v)
		}
	}
	p, ok := ad.prices[key]
	if ok {
		return p
	}
	assume := &celcost.Assumption{Sizes: map[string]int64{}}
	for path, b := range d.sizes {
		if v, ok := set[b]; ok && b != nil {
			assume.Sizes[path] = v * b.bytes
		}
	}
	estimate := func(x *compiled) uint64 {
		if !x.accepted() {
			return 0
		}
		most := x.cost.Max
		if len(assume.Sizes) > 0 {
			most = celcost.For(x.base.Version()).If(x.ast, x.key.Decl, assume).Max
		}
		for _, o := range ad.others {
			if len(assume.Sizes) > 0 {
				most = max(most, o.model.If(x.ast, o.declared(x.key.Decl), assume).Max)
			} else {
				most = max(most, o.expr(x).cost.Max)
			}
		}
		return most
	}
	p = price{estimate(r.expr), estimate(r.message)}
	if r.expr != nil {
		p.total = cost.Mul(p.total, r.timesWith(d, set))
	}
	ad.prices[key] = p
	return p
}

func (r *rule) timesWith(d *dependence, set values) uint64 {
	c := cost.Cardinality{}
	for i, f := range r.cardinality.Factors {
		limit := int64(f.Max)
		v, ok := set[d.factors[i]]
		if ok {
			limit = v
		}
		bound := &limit
		if !ok && !f.Bounded {
			bound = nil
		}
		if f.Map {
			c = c.Map(f.Path, bound)
		} else {
			c = c.List(f.Path, bound)
		}
	}
	return c.Times(r.expr.key.Decl)
}
