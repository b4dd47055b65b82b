package engine

import (
	"fmt"
	"maps"

	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"

	"github.com/celadon-cel/celadon/types"
)

// Seen are the objects of a request as rules see them: pruned, with defaults,
// and with the status that the request can have. old is nil on create. They may
// share memory with the request: treat both as read-only.
func (e *Engine) Seen(req Request) (self, old map[string]any, err error) {
	defer func() {
		if p := recover(); p != nil {
			self, old, err = nil, nil, bug(p)
		}
	}()
	obj := req.Object
	if obj == nil {
		if obj, err = Decode(req.Raw); err != nil {
			return nil, nil, err
		}
	}
	if self, err = e.Prepare(obj); err != nil {
		return nil, nil, err
	}
	v := e.versions[versionOf(self)] // Prepare takes no other
	if req.OldObject == nil {
		if v.hasStatus {
			self = withStatus(self, nil, false)
		}
		return self, nil, nil
	}
	if old, err = e.stored(req.OldObject, v); err != nil {
		return nil, nil, err
	}
	if req.Subresource == "status" {
		status, ok := self["status"]
		self = withStatus(old, status, ok)
	} else if v.hasStatus {
		status, ok := old["status"]
		self = withStatus(self, status, ok)
	}
	return self, old, nil
}

func withStatus(obj map[string]any, status any, ok bool) map[string]any {
	out := maps.Clone(obj)
	delete(out, "status")
	if ok {
		out["status"] = status
	}
	return out
}

// Values follows a path from the root of an object that rules see, and finds the
// value there. before is what the API server would take for its old self: nil
// where it takes none, as in lists that are no maps. It is not ok where the
// object has nothing.
func (e *Engine) Values(version string, steps []Step, obj, old map[string]any) (self, before any, ok bool) {
	v, err := e.version(version)
	if err != nil {
		return nil, nil, false
	}
	d := v.rules.decl
	self = obj
	if old != nil {
		before = old
	}
	for _, step := range steps {
		if d == nil {
			return nil, nil, false
		}
		if self, before, ok = below(d, step, self, before); !ok {
			return nil, nil, false
		}
		d, _ = descend(d, step)
	}
	return self, before, true
}

// below is one step of Values.
func below(d *types.Decl, step Step, self, before any) (any, any, bool) {
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
