package ruletest

import (
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// mutate changes the object of a write of a custom resource as the mutating policies do. It returns the warnings that the
// server sends before that, and the result if a policy denies the write. Without a verdict, it sets a problem.
func (b *own) mutate(t *trial, req *engine.Request) (warnings []string, denied *engine.Result) {
	if t.set == nil || !t.set.Mutates() || b.subresource == "scale" {
		return nil, nil
	}
	received, err := t.on.engine.Receive(t.ctx, *req)
	if err != nil {
		return nil, nil // it is rejected before mutation
	}
	set := b.policySet(t)
	if set == nil {
		return nil, nil
	}
	to, _, ok := b.policyRequest(t, *req, &engine.Result{Object: received.Object})
	if !ok {
		return nil, nil
	}
	to.OldObject = received.OldObject
	policyrequest.MergeableOf(t.on.crd, to.Kind.Version).Set(&to)
	for i := range to.Equivalents {
		e := &to.Equivalents[i]
		m := policyrequest.MergeableOf(t.on.crd, e.Kind.Version)
		e.Schema, e.Default = m.Schema, m.SetDefaults
		if e.Convert != nil {
			e.Revert = func(object map[string]any) (map[string]any, error) {
				return t.on.engine.Convert(t.ctx, object, to.Kind.Version)
			}
		}
	}
	res, err := set.Mutate(t.ctx, to)
	switch {
	case err != nil:
		t.fail(err)
	case len(res.Undecided) > 0:
		t.problem = res.Undecided[0].String()
	case !res.Allowed:
		denied = &engine.Result{Warnings: received.Warnings}
		t.deny(denied, res.Failure)
		return nil, denied
	case res.Changed:
		req.Object, req.Raw, req.Name, req.Merged = res.Object, nil, "", true
		return received.Warnings, nil
	}
	return nil, nil
}
