package compare

import (
	"maps"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// try inserts values at the goal's path into an object that has the path. It is used if CEL cannot express the goal.
func (a *goalSearch) try(q *analysis.Analyzer, h *hybrid) error {
	found, err := q.Search(a.ctx, h.ref, search.Rejected)
	if err != nil {
		return err
	}
	a.searched += found.Searched
	if found.Witness == nil {
		a.reason = found.Reason
		return nil
	}
	if found.Witness.Operation == search.Update { // creating the object demonstrates as much
		found.Witness.Operation, found.Witness.Old = search.Create, nil
	}
	path := a.first(found.Witness.Object)
	if path == nil { // a default may set the path
		res, err := a.base.engine.Validate(a.ctx, found.Witness.Request())
		if err != nil || !res.Allowed {
			return undecidable(err)
		}
		written := found.Witness.Object
		found.Witness.Object = maps.Clone(res.Object)
		found.Witness.Object["metadata"] = written["metadata"]
		path = a.first(res.Object)
	}
	if path == nil {
		a.reason = "no object has this path"
		return nil
	}
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
		if a.witness, err = a.show(&w); a.witness != nil || err != nil {
			return err
		}
	}
	return nil
}

func (a *goalSearch) first(obj map[string]any) (steps []engine.Step) {
	leaves(nil, obj, func(path []engine.Step, v any) bool {
		if len(path) == len(a.goal.at.steps) && covers(a.goal.at.steps, path) {
			steps = append([]engine.Step{}, path...)
		}
		return steps == nil
	})
	return steps
}

type unchanged struct{}

// put sets a value whose parent exists, or removes it if value is absent{}.
func put(obj map[string]any, path []engine.Step, value any) bool {
	if _, ok := value.(unchanged); ok {
		return true
	}
	if len(path) == 0 {
		return false
	}
	parent, _ := valuediff.At(obj, path[:len(path)-1]...)
	last := path[len(path)-1]
	_, drop := value.(absent)
	switch p := parent.(type) {
	case map[string]any:
		if drop {
			delete(p, valuediff.Key(last))
			return true
		}
		p[valuediff.Key(last)] = value
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
