package vet

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/celcost"
	"github.com/celadon-cel/celadon/types"
)

// versionEstimates estimates the rules of an admission as other versions do.
type versionEstimates struct {
	a      *admission
	shared bool // the versions differ in nothing else
	known  []knownVerdict
}

type knownVerdict struct {
	version types.Version
	verdict KubeVersion
}

// of returns the verdict of version v. It returns false if the CRD has to be validated again.
func (e *versionEstimates) of(v types.Version) (KubeVersion, bool) {
	if !e.shared {
		return KubeVersion{}, false
	}
	for _, known := range e.known {
		if known.version.SameBounds(v) && celcost.For(known.version) == celcost.For(v) {
			one := known.verdict
			one.Version = v.String()
			return one, true
		}
	}
	one := e.estimate(v)
	e.known = append(e.known, knownVerdict{v, one})
	return one, true
}

// estimate returns the verdict of version v, with the errors of an admission whose rules have the
// version's estimates.
func (e *versionEstimates) estimate(v types.Version) KubeVersion {
	a := *e.a
	a.version, a.errs, a.costErrs = v, nil, 0
	a.refs, a.kinds = map[*field.Error]*rule{}, map[*field.Error]engine.CauseKind{}
	other := e.a.reestimator(v)
	a.units = nil
	for _, u := range e.a.units {
		next := *u
		next.total = cost.NewTotal(a.limits)
		next.rules = other.rules(u, &next)
		a.units = append(a.units, &next)
		visit := &visit{a: &a, u: &next}
		for _, r := range next.rules {
			visit.checkRule(r, nil)
		}
		a.errs = append(a.errs, visit.cel...)
		if next.total.Exceeded() {
			a.errs = append(a.errs, a.totalErrors(&next)...)
		}
	}
	return a.kubeVersion()
}

// reestimator estimates compiled expressions with another model.
type reestimator struct {
	version types.Version
	model   celcost.Model
	decls   *types.Interner
	same    bool // declarations have the same bounds
	of      map[*types.Decl]*types.Decl
	known   map[*compiled]*compiled
}

func (a *admission) reestimator(v types.Version) *reestimator {
	w := &reestimator{
		version: v, model: celcost.For(v), decls: types.NewInterner(), same: v.SameBounds(a.version),
		of: map[*types.Decl]*types.Decl{}, known: map[*compiled]*compiled{},
	}
	w.decls.Version = v
	return w
}

// otherModels returns reestimators for the versions that advice has to fit, one for all that
// estimate alike.
func (a *admission) otherModels() (list []*reestimator) {
	if !a.cfg.AdviseAll {
		return nil
	}
	known := []types.Version{a.version}
	for _, version := range a.cfg.KubeVersions {
		v, err := types.ParseVersion(version)
		if err != nil || slices.ContainsFunc(known, func(k types.Version) bool { return k.SameBounds(v) && celcost.For(k) == celcost.For(v) }) {
			continue
		}
		known = append(known, v)
		list = append(list, a.reestimator(v))
	}
	return list
}

// rules returns copies of the rules of a schema with other estimates, for the unit next.
func (w *reestimator) rules(u, next *unit) []*rule {
	list := make([]*rule, len(u.rules))
	for i, r := range slices.Backward(u.rules) { // parents first
		c := *r
		c.unit, c.expr, c.message = next, w.expr(r.expr), w.expr(r.message)
		c.total = cost.Mul(c.cost(), c.times)
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

// declared returns the declaration of the same schema in the other version.
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

// pair records that other declares the same schema as d.
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
