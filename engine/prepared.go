package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"

	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"

	"github.com/celadon-cel/celadon/types"
)

// Prepared is a write as its rules see it: decoded, pruned and defaulted, with
// what the server fills in and the status that the request can have. What it
// gives may share memory with the request: treat both as read-only. It is
// immutable and safe for concurrent use.
type Prepared struct {
	version   *crdVersion
	limits    limits
	self, old map[string]any
	warnings  []string
}

// Prepare takes a write as far as the rules, the way that Validate goes. The
// error says why the server would not come that far.
func (e *Engine) Prepare(req Request) (p *Prepared, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, bug(r)
		}
	}()
	w, err := e.newWrite(context.Background(), req)
	if err == nil {
		err = w.prepare()
	}
	switch {
	case err != nil:
		return nil, err
	case w.failure != nil:
		return nil, errors.New(w.failure.Message)
	}
	p = w.prepared()
	p.warnings = w.warnings.Sent()
	return p, nil
}

// Prepared is what the rules saw of an object that was refused with causes; nil
// for any other.
func (r *Result) Prepared() *Prepared { return r.prepared }

// Version is the CRD version of the request.
func (p *Prepared) Version() string { return p.version.name }

// Self is the object.
func (p *Prepared) Self() map[string]any { return p.self }

// Old is the old object, in the request's version; nil on create.
func (p *Prepared) Old() map[string]any { return p.old }

// Warnings are those that the server sends before it checks the object; of what
// Engine.Prepare gives.
func (p *Prepared) Warnings() []string { return p.warnings }

// prepared is the write at hand. The object that rules see has managedFields
// only while they run: here it is a copy that keeps them.
func (w *write) prepared() *Prepared {
	p := &Prepared{version: w.version, limits: w.engine.limits, self: w.obj.Object}
	if w.old == nil {
		return p
	}
	p.old = w.old.Object
	if fields, ok := w.managed(); ok {
		meta := maps.Clone(p.self["metadata"].(map[string]any))
		meta[managedFields] = fields
		p.self = maps.Clone(p.self)
		p.self["metadata"] = meta
	}
	return p
}

// RunRules runs all rules, whatever else may be wrong with the object, and tells
// of each that ran. The error is of a cancelled context, a *WorkLimitError with
// what is known beside it, or an *InternalError.
func (p *Prepared) RunRules(ctx context.Context) (results []RuleResult, err error) {
	defer func() {
		if r := recover(); r != nil {
			results, err = nil, bug(r)
		}
	}()
	tally := newTally()
	run := p.version.rules.run(ctx, p.limits.PerObject, tally)
	defer run.done()
	run.warn = func(string) {} // the tally has what is ratcheted
	var old any
	if p.old != nil {
		old = p.old
	}
	run.root(nil, p.self, old)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if run.bug != nil {
		return nil, run.bug
	}
	if run.unknown != nil {
		return tally.results(), run.unknown
	}
	return tally.results(), nil
}

// Values follows a path from the root, and finds the value there. before is what
// the API server would take for its old self: nil where it takes none, as in
// lists that are no maps. It is not ok where the object has nothing.
func (p *Prepared) Values(steps []Step) (self, before any, ok bool) {
	d := p.version.rules.decl
	self = p.self
	if p.old != nil {
		before = p.old
	}
	for _, step := range steps {
		if d == nil {
			return nil, nil, false
		}
		if self, before, ok = valuesBelow(d, step, self, before); !ok {
			return nil, nil, false
		}
		d, _ = descend(d, step)
	}
	return self, before, true
}

// valuesBelow is one step of Values.
func valuesBelow(d *types.Decl, step Step, self, before any) (any, any, bool) {
	switch self := self.(type) {
	case []any:
		if !step.Item || step.Index < 0 || step.Index >= len(self) {
			return nil, nil, false
		}
		item := self[step.Index]
		items, was := before.([]any)
		if !was || d.ListType != types.MapList {
			return item, nil, true
		}
		return item, oldItems(d.Schema, items).Get(item), true
	case map[string]any:
		name := step.Name
		if step.Item {
			name = fmt.Sprint(step.Index) // a key that looks like an index
		}
		v, ok := self[name]
		if !ok || step.Any {
			return nil, nil, false
		}
		entries, _ := before.(map[string]any)
		if !upstreamcel.MapIsCorrelatable(d.Schema.XMapType) {
			return v, nil, true
		}
		return v, entries[name], true
	}
	return nil, nil, false
}
