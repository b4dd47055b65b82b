package vet

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/celcost"
	"github.com/celadon-cel/celadon/types"
)

// Version v must differ from a's only in the estimates of rules.
func (a *admission) estimated(v types.Version) KubeVersion {
	w, other := a.reestimator(v), *a
	other.version, other.errs, other.units = v, nil, nil
	other.refs, other.kinds = map[*field.Error]*rule{}, map[*field.Error]engine.CauseKind{}
	for _, u := range a.units {
		next := *u
		next.total = cost.NewTotal(a.limits)
		next.rules = w.rules(u, &next)
		other.units = append(other.units, &next)
		visit := &visit{a: &other, u: &next}
		for _, r := range next.rules {
			visit.checkRule(r, nil)
		}
		other.errs = append(other.errs, visit.cel...)
		if next.total.Exceeded() {
			other.errs = append(other.errs, other.totalErrors(&next)...)
		}
	}
	return other.kubeVersion()
}

// A reestimator estimates compiled expressions with another model.
type reestimator struct {
	version types.Version
	model   celcost.Model
	decls   *types.Interner
	same    bool // declarations have the same bounds
	of      map[*types.Decl]*types.Decl
	known   map[*compiled]*compiled
}

// Versions that estimate alike share a reestimator.
func (a *admission) reestimator(v types.Version) *reestimator {
	for _, w := range a.reestimators {
		if w.version.SameBounds(v) && w.model == celcost.For(v) {
			return w
		}
	}
	w := &reestimator{
		version: v, model: celcost.For(v), decls: types.NewInterner(), same: v.SameBounds(a.version),
		of: map[*types.Decl]*types.Decl{}, known: map[*compiled]*compiled{},
	}
	w.decls.Version = v
	a.reestimators = append(a.reestimators, w)
	return w
}

// others returns the reestimators for the versions that advice has to fit, apart from the vetted version.
func (a *admission) others() (list []*reestimator) {
	for _, v := range a.advised() {
		if w := a.reestimator(v); w != a.reestimator(a.version) && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}

func (w *reestimator) rules(u, next *unit) []*rule {
	list := make([]*rule, len(u.rules))
	for i, r := range slices.Backward(u.rules) { // parents first
		c := *r
		c.unit, c.expr, c.message = next, w.expr(r.expr), w.expr(r.message)
		c.total = cost.Mul(c.expr.estimate(), c.times)
		list[i] = &c
	}
	return list
}

func (w *reestimator) expr(x *compiled) *compiled {
	if x == nil {
		return nil
	}
	if known := w.known[x]; known != nil {
		return known
	}
	c := *x
	c.cost = w.model.Of(x.ast, w.declared(x.key.Decl))
	w.known[x] = &c
	return &c
}

func (w *reestimator) declared(d *types.Decl) *types.Decl {
	if w.same {
		return d
	}
	if w.of[d] == nil {
		at := types.Subtree
		if d.Root {
			at = types.ResourceRoot
		}
		w.pair(d, w.decls.FromSchema(d.Schema, at))
	}
	return w.of[d]
}

func (w *reestimator) pair(d, other *types.Decl) {
	if d == nil || other == nil || w.of[d] != nil {
		return
	}
	w.of[d] = other
	w.pair(d.Elem, other.Elem)
	for name, f := range d.Fields {
		if o := other.Fields[name]; o != nil {
			w.pair(f.Decl, o.Decl)
		}
	}
}
