package vet

import (
	"math"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/celcost"
	"github.com/celadon-cel/celadon/types"
)

// bound is the size limit of a value in the schema, present or missing, that affects the cost of
// rules.
type bound struct {
	path string // "spec.hosts[*]"
	// field is the path of the value's schema props in the CRD.
	field   string
	props   *apiextensions.JSONSchemaProps
	keyword string // maxLength, maxItems, maxProperties
	// assumed is the size that the estimate uses for a missing bound; 0 if the bound is declared.
	assumed int64
	// declared is the value of a bound in the schema.
	declared int64
	// minimum is the smallest value that can be set.
	minimum int64
	// bytes is how many units of the estimate correspond to a unit of the bound.
	bytes int64
}

func (b *bound) missing() bool { return b.assumed > 0 }

// of fills in b from the declaration of its value and returns b, or nil if no keyword of the schema
// determines the size.
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

// ofAny is like of. If no keyword bounds the value in the vetted version, it uses the declarations of
// other versions.
func (b *bound) ofAny(d *types.Decl, others []*reestimator) *bound {
	found := b.of(d)
	for _, o := range others {
		if found == nil && d.Schema != nil { // a computed value has no schema
			found = b.of(o.declared(d))
		}
	}
	return found
}

type bounds struct {
	byPath map[string]*bound
	// ofRule caches the dependence of each rule.
	ofRule map[*rule]*dependence
	// others are the other versions whose estimates must fit.
	others []*reestimator
}

// dependence holds the bounds on which a rule's cost depends.
type dependence struct {
	sizes   map[string]*bound // by celcost.Path from self
	factors []*bound          // the lists and maps around the rule, as in its cardinality
}

func (d *dependence) all() []*bound {
	var list []*bound
	add := func(b *bound) {
		if b != nil && !slices.Contains(list, b) {
			list = append(list, b)
		}
	}
	for _, b := range d.factors {
		add(b)
	}
	for _, path := range sortedKeys(d.sizes) {
		add(d.sizes[path])
	}
	return list
}

func newBounds() *bounds {
	return &bounds{byPath: map[string]*bound{}, ofRule: map[*rule]*dependence{}}
}

func (bs *bounds) intern(b *bound) *bound {
	if b == nil {
		return nil
	}
	key := b.path + " " + b.keyword
	if known := bs.byPath[key]; known != nil {
		return known
	}
	bs.byPath[key] = b
	return b
}

// of returns the bounds on which a rule's cost depends. It records which sizes the estimator
// requests.
func (bs *bounds) of(r *rule) *dependence {
	if d := bs.ofRule[r]; d != nil {
		return d
	}
	d := &dependence{sizes: map[string]*bound{}}
	for _, f := range r.cardinality.Factors {
		at := r.at.above(f.Path)
		field, _ := r.unit.find(at.steps())
		b := &bound{path: f.Path, field: field.String(), props: at.props, keyword: f.Word(), bytes: 1, minimum: r.unit.minimumBound(at.steps()), declared: int64(f.Max)}
		if !f.Bounded {
			b.assumed = at.assumed()
		}
		d.factors = append(d.factors, bs.intern(b))
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
			if field, props := r.unit.find(steps); props != nil {
				b := &bound{path: engine.FormatPath(steps), field: field.String(), props: props, minimum: r.unit.minimumBound(steps)}
				d.sizes[key] = bs.intern(b.ofAny(decl, bs.others))
			}
		}}
		celcost.For(x.base.Version()).If(x.ast, x.key.Decl, listen)
	}
	bs.ofRule[r] = d
	return d
}

// above returns b or the ancestor of b with the given path, which must exist.
func (b *branch) above(path string) *branch {
	for b.objectPath() != path {
		b = b.parent
	}
	return b
}

// assumed returns the size that the estimate uses for a list or map without a bound.
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
		if x != nil && !x.rejected {
			parts = append(parts, x)
		}
	}
	return parts
}

// stepsOf converts a path of the checker to a path in an object.
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

// price returns the rule's cost if set is applied: its total, and the cost of an evaluation of its
// messageExpression.
func (bs *bounds) price(r *rule, set values) (total, message uint64) {
	d := bs.of(r)
	assume := &celcost.Assumption{Sizes: map[string]int64{}}
	for path, b := range d.sizes {
		if v, ok := set[b]; ok && b != nil {
			assume.Sizes[path] = v * b.bytes
		}
	}
	estimate := func(x *compiled) uint64 {
		if x == nil || x.rejected {
			return 0
		}
		if len(assume.Sizes) == 0 {
			worstCost := x.cost.Max
			for _, o := range bs.others {
				worstCost = max(worstCost, o.expr(x).cost.Max)
			}
			return worstCost
		}
		most := celcost.For(x.base.Version()).If(x.ast, x.key.Decl, assume).Max
		for _, o := range bs.others {
			most = max(most, o.model.If(x.ast, o.declared(x.key.Decl), assume).Max)
		}
		return most
	}
	total, message = estimate(r.expr), estimate(r.message)
	if r.expr != nil {
		total = cost.Mul(total, bs.times(r, d, set))
	}
	return total, message
}

func (bs *bounds) times(r *rule, d *dependence, set values) uint64 {
	c := cost.Cardinality{}
	for i, f := range r.cardinality.Factors {
		var limit *int64
		if f.Bounded {
			limit = new(int64)
			*limit = int64(f.Max)
		}
		if v, ok := set[d.factors[i]]; ok {
			limit = &v
		}
		if f.Map {
			c = c.Map(f.Path, limit)
		} else {
			c = c.List(f.Path, limit)
		}
	}
	return c.Times(r.expr.key.Decl)
}

// find returns the schema of a path in objects and its path in the CRD. It returns nil below metadata and
// for paths that the schema does not declare, although rules can use some of them.
func (u *unit) find(steps []engine.Step) (*field.Path, *apiextensions.JSONSchemaProps) {
	if len(steps) > 0 && steps[0].Name == "metadata" {
		return nil, nil
	}
	s, path := u.root, u.schemaPath()
	for _, step := range steps {
		switch {
		case step.Any && s.Items != nil && s.Items.Schema != nil:
			s, path = s.Items.Schema, path.Child("items")
		case step.Any && s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
			s, path = s.AdditionalProperties.Schema, path.Child("additionalProperties")
		default:
			prop, ok := s.Properties[step.Name]
			if !ok || step.Any {
				return nil, nil
			}
			s, path = &prop, path.Child("properties").Key(step.Name)
		}
	}
	return path, s
}
