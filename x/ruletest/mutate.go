package ruletest

import (
	"context"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
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
	changed, denied := t.mutated(set, to)
	switch {
	case denied != nil:
		denied.Warnings = received.Warnings
	case changed != nil:
		req.Object, req.Raw, req.Name, req.Merged = changed, nil, "", true
		return received.Warnings, nil
	}
	return nil, denied
}

// mutated returns the object as the mutating policies of set change it, or nil, and the result if a policy denies the
// write. Without a verdict, it sets a problem.
func (t *trial) mutated(set *policy.Set, to policy.Request) (changed map[string]any, denied *engine.Result) {
	res, err := set.Mutate(t.ctx, to)
	switch {
	case err != nil:
		t.fail(err)
	case len(res.Undecided) > 0:
		t.problem = res.Undecided[0].String()
	case !res.Allowed:
		denied = &engine.Result{}
		t.deny(denied, res.Failure)
	case res.Changed:
		changed = res.Object
	}
	return changed, denied
}

// builtinMutation lets the mutating policies take part in a write of a built-in kind. It implements
// policyrequest.Admission. denied is the result if a policy denies the write.
type builtinMutation struct {
	*own
	trial  *trial
	kind   *policyrequest.Builtin
	req    engine.Request
	denied *engine.Result
}

// Mutate implements policyrequest.Admission.
func (m *builtinMutation) Mutate(_ context.Context, object, old map[string]any) (changed map[string]any, ok bool) {
	t := m.trial
	if t.set == nil || !t.set.Mutates() {
		return nil, true
	}
	set := m.policySet(t)
	if set == nil {
		return nil, false
	}
	to, _, ok := m.policyRequest(t, m.req, &engine.Result{Object: object})
	if !ok {
		return nil, false
	}
	to.OldObject = old
	m.kind.Mergeable().Set(&to)
	changed, m.denied = t.mutated(set, to)
	return changed, m.denied == nil && t.problem == ""
}

// Validate implements policyrequest.Admission: the validating policies are evaluated after the write.
func (m *builtinMutation) Validate(context.Context, map[string]any, map[string]any) bool { return true }
