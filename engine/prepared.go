package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/celadon-cel/celadon/engine/x/structural"
	"github.com/celadon-cel/celadon/types"
)

// A Prepared is a write in the form in which its rules see it: decoded, pruned, and defaulted, with the fields that
// the server sets and the status that the request can write. It is immutable and safe for concurrent use. Values that
// it returns may share memory with the request; treat both as read-only.
type Prepared struct {
	// Version is the CRD version of the request.
	Version string
	// Self is the object. Old is the old object in the request's version, or nil on create.
	Self, Old map[string]any
	// Warnings holds the warnings that the server sends before it checks the object. Only Engine.Prepare sets it.
	Warnings []string

	version     *crdVersion
	budget      int64
	unratcheted bool
}

// Prepare performs the steps of Validate that precede its checks. If the server rejects the request before that, the
// error is its reason.
func (e *Engine) Prepare(req Request) (p *Prepared, err error) {
	defer catch(&p, &err)
	w, err := e.newWrite(context.Background(), req)
	if err == nil {
		err = w.prepare()
	}
	if err = w.failed(err); err != nil {
		return nil, err
	}
	p = w.prepared()
	p.Warnings = w.warnings.Sent()
	return p, nil
}

// Received is a write as mutating admission sees it: decoded, pruned, and with defaults, but without the
// changes that the server makes afterwards, such as to the status and to the metadata.
type Received struct {
	Object map[string]any
	// OldObject is the old object in the request's version, or nil on create.
	OldObject map[string]any
	// Warnings holds the warnings that the server sends even if admission rejects the write.
	Warnings []string
}

// Receive performs the steps of Validate that precede admission. If the server rejects the request before that, the
// error is its reason. The subresource scale is not supported.
func (e *Engine) Receive(ctx context.Context, req Request) (r *Received, err error) {
	defer catch(&r, &err)
	if req.Subresource == scaleSubresource {
		return nil, errors.New("request: the subresource scale is not supported")
	}
	w, err := e.newWrite(ctx, req)
	if err == nil {
		err = w.receive(true)
	}
	if err == nil && w.failure == nil && req.OldObject != nil {
		err = w.readOld()
	}
	if err = w.failed(err); err != nil {
		return nil, err
	}
	r = &Received{Object: w.obj.Object, Warnings: w.warnings.Sent()}
	if w.old != nil {
		r.OldObject = w.old.Object
	}
	return r, nil
}

func (w *write) failed(err error) error {
	if err == nil && w.failure != nil {
		return errors.New(w.failure.Message)
	}
	return err
}

// Some metadata is only in the object while rules run, so the result holds a copy of the object that includes it.
func (w *write) prepared() *Prepared {
	p := &Prepared{Version: w.version.name, version: w.version, budget: w.engine.info.Limits.PerObject, Self: w.obj.Object, unratcheted: !w.ratcheted()}
	if w.old != nil {
		p.Old = w.old.Object
	}
	if fields := w.metadataOnServer(); fields != nil {
		meta := maps.Clone(p.Self["metadata"].(map[string]any))
		maps.Copy(meta, fields)
		p.Self = maps.Clone(p.Self)
		p.Self["metadata"] = meta
	}
	return p
}

// RunRules runs all rules, even if the object is otherwise invalid. It returns the result of each
// rule that ran, and the reasons for which the rules reject the object. The error is ctx.Err(), a *WorkLimitError
// (together with the results), or an *InternalError.
func (p *Prepared) RunRules(ctx context.Context) (results []RuleResult, causes []Cause, err error) {
	defer func() {
		if r := recover(); r != nil {
			results, causes, err = nil, nil, internalError(r)
		}
	}()
	tally := newTally(true, nil)
	run, err := p.run(ctx, tally, nil)
	defer run.done()
	if err != nil && !errors.As(err, new(*WorkLimitError)) {
		return nil, nil, err
	}
	return tally.results(), p.version.rules().server.causes(run.findings), err
}

// The error is as for RunRules. The caller must call done on the result, which is never nil.
func (p *Prepared) run(ctx context.Context, t *tally, open *openPaths) (*run, error) {
	run := p.version.rules().run(ctx, p.budget, t)
	run.warn = func(string) {} // the tally records ratcheted errors
	run.unratcheted, run.open = p.unratcheted, open
	run.root(nil, p.Self, p.Old)
	switch {
	case ctx.Err() != nil:
		return run, ctx.Err()
	case run.bug != nil:
		return run, run.bug
	case run.unknown != nil:
		return run, run.unknown
	}
	return run, nil
}

// Values returns the value at a path from the root. before is the value that the API server would
// use as oldSelf, or nil without oldSelf, as in lists that are not map lists. ok is false if the
// object has no value at the path.
func (p *Prepared) Values(steps []Step) (self, before any, ok bool) {
	d := p.version.decl
	self, before = p.Self, nilIfEmpty(p.Old)
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
		return item, newOldList(d.Schema, items).Get(item), true
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
		if !structural.MapIsCorrelatable(d.Schema.XMapType) {
			return v, nil, true
		}
		return v, entries[name], true
	}
	return nil, nil, false
}
