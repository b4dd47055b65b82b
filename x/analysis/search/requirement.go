package search

import (
	"context"
	"fmt"

	"github.com/celadon-cel/celadon/engine"
)

// A requirement is a value that the object must have at a path, or at any path that matches
// it. If absent is set, the path must not exist.
type requirement struct {
	steps  []engine.Step
	value  any
	absent bool
}

// WithValue searches for a write that the version accepts and whose object has value at path. The
// value has the form that Decode returns. Paths are written as "spec.hosts[2]",
// "spec.hosts[*].name" (the name of any item), or "spec.labels['a']". WithValue returns an error if
// the schema does not have the path.
func (s *Search) WithValue(ctx context.Context, path string, value any) (*Answer, error) {
	return s.accepting(ctx, path, requirement{value: value})
}

// WithoutPath searches for a write that the version accepts and whose object, after defaulting, has
// nothing at path but has its parent. For example, an object lacks "spec.hosts[*].name" if an item
// has no name.
func (s *Search) WithoutPath(ctx context.Context, path string) (*Answer, error) {
	return s.accepting(ctx, path, requirement{absent: true})
}

func (s *Search) accepting(ctx context.Context, path string, want requirement) (*Answer, error) {
	var err error
	if want.steps, err = engine.ParsePath(path); err != nil {
		return nil, err
	}
	if len(want.steps) == 0 {
		return nil, fmt.Errorf("path %q: not a field (want a path such as spec.hosts[*].name)", path)
	}
	if !s.root.has(want.steps) {
		return nil, fmt.Errorf("path %q: the schema of version %s has no such field", path, s.version)
	}
	if !s.served {
		return s.unserved(), nil
	}
	h := s.newSolver(ctx, fmt.Sprintf("hold %s %v %v", path, want.absent, want.value), s.cfg.Steps)
	h.want, h.required = Accepted, &want
	return h.run()
}

// has reports whether the schema allows values at a path.
func (n node) has(steps []engine.Step) bool {
	for i, s := range steps {
		if n.s != nil && n.s.XPreserveUnknownFields || i > 0 && steps[0].Name == "metadata" {
			return true
		}
		if n = n.step(s); !n.known() {
			return false
		}
	}
	return true
}

// in reports whether the object meets the requirement at any of the matching paths.
func (h *requirement) in(w *candidate, root node) bool {
	up := h.steps[:len(h.steps)-1]
	for _, p := range w.matchingPaths(objectPath{node: root}, up, nil) {
		below := w.matchingPaths(p, h.steps[len(up):], nil)
		if h.absent && len(below) == 0 {
			return true
		}
		for _, at := range below {
			if v, _ := w.get(at); !h.absent && equalJSON(v, h.value) {
				return true
			}
		}
	}
	return false
}

// put makes the object meet the requirement at a matching path.
func (h *requirement) put(attempt *solver, w *candidate) {
	if h.in(w, attempt.root) {
		return
	}
	last := len(h.steps) - 1
	up, ok := attempt.reach(w, h.steps[:last], false)
	if !ok {
		return
	}
	p := attempt.into(w, up, h.steps[last])
	if h.absent {
		w.drop(p)
		return
	}
	if attempt.newAdjuster(w, nil, instance{}).ensure(p) {
		w.put(p, copied(h.value))
	}
}
