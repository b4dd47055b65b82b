package compare

import (
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/search"
)

// try puts values where the goal's place is, in an object that has it: for what
// CEL cannot say.
func (a *asking) try(s *search.Search, h *hybrid) error {
	found, err := s.Find(a.ctx, h.ref, search.Refused)
	if err != nil {
		return err
	}
	a.searched += found.Searched
	if found.Witness == nil {
		a.reason = found.Reason
		return nil
	}
	if found.Witness.Operation == search.Update { // an object as it is created shows as much
		found.Witness.Operation, found.Witness.Old = search.Create, nil
	}
	var places [][]engine.Step
	leaves(nil, found.Witness.Object, func(path []engine.Step, v any) bool {
		if len(path) == len(a.goal.at.steps) && covers(a.goal.at.steps, path) {
			places = append(places, path)
		}
		return len(places) == 0
	})
	if len(places) == 0 {
		a.reason = "no object has the place"
		return nil
	}
	path := places[0]
	if a.under != "" {
		path = append(path, engine.Step{Name: a.under})
	}
	for _, value := range append([]any{unchanged{}}, a.values...) {
		w := *found.Witness
		w.Object = runtime.DeepCopyJSON(w.Object)
		if !put(w.Object, path, value) {
			continue
		}
		a.searched++
		if a.witness, err = a.show(&w, false); a.witness != nil || err != nil {
			return err
		}
	}
	return nil
}

// unchanged is a value as it is.
type unchanged struct{}

// put sets a value of which the parent is there, or takes it away.
func put(obj map[string]any, path []engine.Step, value any) bool {
	var parent any = obj
	for _, step := range path[:len(path)-1] {
		parent = below(parent, step)
	}
	last := path[len(path)-1]
	if _, ok := value.(unchanged); ok {
		return true
	}
	_, drop := value.(absent)
	switch p := parent.(type) {
	case map[string]any:
		if drop {
			delete(p, key(last))
			return true
		}
		p[key(last)] = value
		return true
	case []any:
		if drop || last.Index >= len(p) {
			return false
		}
		p[last.Index] = value
		return true
	}
	return false
}

func below(v any, step engine.Step) any {
	switch v := v.(type) {
	case map[string]any:
		return v[key(step)]
	case []any:
		if step.Item && step.Index < len(v) {
			return v[step.Index]
		}
	}
	return nil
}

func key(s engine.Step) string {
	if s.Item {
		return strconv.Itoa(s.Index)
	}
	return s.Name
}
