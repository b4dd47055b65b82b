package ruletest

import (
	"maps"
	"strings"

	"github.com/celadon-cel/celadon/engine"
)

// run does the writes of OpenShift's harness: a create, or for a test of updates, a create and an
// update. A test of updates writes the status separately, through its subresource.
func (b *openShift) run(t *trial) {
	t.where = func(field string) Position { return b.reader.cause(b.initial, field) }
	initial := b.withName(t.on, b.initial.object)
	if b.updated == nil {
		b.check(t, engine.Request{Object: initial}, b.expectedError, b.expected)
		return
	}
	stored := b.store(t, initial)
	if stored == nil {
		return
	}
	t.where = func(field string) Position { return b.reader.cause(b.updated, field) }
	updated := b.withName(t.on, b.updated.object)
	updated["metadata"].(map[string]any)["name"] = metadata(stored)["name"]
	req, status := engine.Request{Object: updated, OldObject: stored}, updated["status"]
	if b.expectedError != "" || status == nil {
		b.check(t, req, b.expectedError, b.expected)
		return
	}
	if b.check(t, req, "", nil) && b.hasStatusSubresource(t, t.on, b.errorPosition) {
		t.status = true
		b.check(t, statusWrite(t.result.Object, status), b.expectedStatusError, b.expected)
	}
}

// withName returns the object with the namespace and name that the harness sets.
func (b *openShift) withName(on *target, object map[string]any) map[string]any {
	out, meta := maps.Clone(object), metadata(object)
	delete(meta, "namespace")
	if on.engine.Info().Namespaced {
		meta["namespace"] = "default"
	}
	switch {
	case !b.named:
		meta["generateName"] = defaultName
	case b.generate:
		meta["generateName"] = b.name
	default:
		meta["name"] = b.name
	}
	out["metadata"] = meta
	return out
}

func (b *openShift) store(t *trial, initial map[string]any) map[string]any {
	at := b.reader.positionOf(b.initial.node)
	res := t.writeSetup(t.before, "initial", at, engine.Request{Object: initial})
	if res == nil {
		return nil
	}
	stored := res.Object
	if status := initial["status"]; status != nil {
		if !b.hasStatusSubresource(t, t.before, at) {
			return nil
		}
		if res = t.writeSetup(t.before, "the status of initial", at, statusWrite(stored, status)); res == nil {
			return nil
		}
		stored = res.Object
	}
	if t.before == t.on {
		return stored
	}
	// The harness first updates the object under the current CRD, without a change.
	if res = t.writeSetup(t.on, "initial, unchanged under today's CRD,", at, engine.Request{Object: stored, OldObject: stored}); res == nil {
		return nil
	}
	return res.Object
}

func (b *openShift) hasStatusSubresource(t *trial, on *target, at Position) bool {
	s := on.crd.Spec.Versions[0].Subresources
	if s == nil || s.Status == nil {
		t.wrongAt(at, "a status subresource, so that status can be written", "no status subresource in the CRD version")
		return false
	}
	return true
}

func statusWrite(stored map[string]any, status any) engine.Request {
	object := maps.Clone(stored)
	object["status"] = status
	return engine.Request{Object: object, OldObject: stored, Subresource: "status"}
}

func (b *openShift) check(t *trial, req engine.Request, rejection string, expected *embedded) bool {
	if t.result = t.write(t.on, req); t.result == nil {
		return false
	}
	t.recordWrite(t.on, req, func(res *engine.Result) bool {
		again := &trial{cfg: t.cfg, on: t.on, result: res}
		b.compareResult(again, rejection, expected)
		return len(again.wrong) == 0
	})
	b.compareResult(t, rejection, expected)
	return len(t.wrong) == 0
}

// If rejection and expected are empty, the write must only be accepted.
func (b *openShift) compareResult(t *trial, rejection string, expected *embedded) {
	res := t.result
	switch {
	case rejection != "" && res.Allowed:
		t.wrongAt(b.errorPosition, "rejected: …"+rejection+"…", "accepted")
	case rejection != "":
		ok, by := contains(res.Failure.Message, rejection, t.cfg.Exact)
		if !ok {
			t.wrongAt(b.errorPosition, "rejected: …"+rejection+"…", "rejected: "+res.Failure.Message)
		} else if by {
			t.remark(olderRemark)
		}
	case !res.Allowed:
		at := b.errorPosition
		if b.expected != nil {
			at = b.reader.positionOf(b.expected.node)
		}
		t.wrongAt(at, "accepted", "rejected: "+res.Failure.Message)
	default:
		if expected != nil {
			if found := differences(b.withoutName(expected.object), b.withoutName(res.Object)); len(found) > 0 {
				t.wrongAt(b.reader.positionOf(expected.node), "this object", "a different object: "+strings.Join(found, "; "))
			}
		}
	}
}

func (b *openShift) withoutName(object map[string]any) map[string]any {
	out, meta := maps.Clone(object), metadata(object)
	delete(meta, "name")
	delete(meta, "namespace")
	settle(out, meta)
	return out
}
