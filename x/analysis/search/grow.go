package search

import (
	"errors"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/x/analysis/work"
)

const growSteps = 6000

const growTries = 5

// grow adds fields to an accepted object as long as the engine accepts it. It adds all missing fields
// of a level at once; if the object is rejected, it adds each half separately, down to single fields.
func (h *solver) grow(w *candidate, _ bool) (*candidate, *verdict, error) {
	h.oracle = h.newOracle(growSteps)
	last, err := h.oracle.decide(w)
	if err != nil {
		return nil, nil, err
	}
	tried := map[string]bool{}
	for {
		missing := h.missing(w, tried)
		if len(missing) == 0 {
			return w, last, nil
		}
		for _, p := range missing {
			tried[handle{objectPath: p}.id()] = true
		}
		w, last, err = h.addAll(w, last, missing)
		if errors.Is(err, errSpent) {
			return w, last, nil
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

func (h *solver) addAll(w *candidate, last *verdict, missing []objectPath) (*candidate, *verdict, error) {
	tries := 1
	if len(missing) == 1 {
		tries = growTries
	}
	for range tries {
		larger := w.clone()
		b := h.newAdjuster(larger, nil, instance{})
		for _, p := range missing {
			b.fuel = fuel
			b.ensure(p)
		}
		v, err := h.repaired(larger, len(missing) == 1)
		if err != nil {
			return w, last, err
		}
		if v != nil {
			return larger, v, nil
		}
	}
	if len(missing) == 1 {
		return w, last, nil
	}
	var err error
	for _, half := range [][]objectPath{missing[:len(missing)/2], missing[len(missing)/2:]} {
		if w, last, err = h.addAll(w, last, half); err != nil {
			return w, last, err
		}
	}
	return w, last, nil
}

// repaired returns the verdict on a candidate that is accepted, possibly after repairs if repairs is
// set. It returns nil if the candidate is not accepted or has lost values.
func (h *solver) repaired(w *candidate, repairs bool) (*verdict, error) {
	h.wants, h.stuck = map[string]textWant{}, map[string]int{}
	before := count(w.obj)
	for round := 0; ; round++ {
		h.settle(w)
		v, err := h.oracle.decide(w)
		switch {
		case err != nil:
			return nil, err
		case v.accepted() && count(w.obj) >= before:
			return v, nil
		case v.accepted() || v.undecided || round > 2 || !repairs:
			return nil, nil
		}
		h.repair(w, v)
	}
}

// missing returns the absent fields, and the first elements of empty lists and maps, of the level closest to the root
// that has any. It omits those in tried.
func (h *solver) missing(w *candidate, tried map[string]bool) []objectPath {
	level := []reached{{objectPath{node: h.root}, w.obj}}
	for len(level) > 0 && !h.work.Empty() {
		var found []objectPath
		var next []reached
		for _, at := range level {
			if len(at.path) >= work.MaxDepth {
				continue
			}
			for _, below := range h.below(w, at) {
				h.work.Spend(10)
				switch {
				case below.v != nil:
					next = append(next, below)
				case below.node.known():
					h.work.Spend(len(below.path))
					if !tried[handle{objectPath: below.objectPath}.id()] {
						found = append(found, below.objectPath)
					}
				}
			}
		}
		if len(found) > 0 {
			return found
		}
		level = next
	}
	return nil
}

// A reached is a path in an object with the schema and the value there. The value is nil if the
// object has no value at the path.
type reached struct {
	objectPath
	v any
}

func (h *solver) below(w *candidate, at reached) (all []reached) {
	switch v := at.v.(type) {
	case map[string]any:
		for _, name := range at.node.names() {
			if len(at.path) > 0 || name != "metadata" && name != "apiVersion" && name != "kind" &&
				(name != "status" || !w.split) {
				all = append(all, reached{at.field(name), v[name]})
			}
		}
		if at.node.isMap() {
			names := sortedKeys(v)
			if len(names) == 0 {
				names = []string{mapKey(0)}
			}
			for _, name := range names {
				all = append(all, reached{at.field(name), v[name]})
			}
		}
	case []any:
		for i, item := range v {
			all = append(all, reached{at.item(i), item})
		}
		if len(v) == 0 {
			all = append(all, reached{at.item(0), nil})
		}
	}
	return all
}

// inflate enlarges the values that a rule reads, so that it costs more.
func (b *adjuster) inflate(root ast.Expr) {
	for _, h := range b.handles(root, nil) {
		v, ok := b.w.get(h.objectPath)
		if !ok && b.ensure(h.objectPath) {
			v, _ = b.w.get(h.objectPath)
		}
		switch v := v.(type) {
		case string:
			if !h.key && count(b.w.obj) < maxValues {
				b.fuel = fuel
				b.sizeAt(h, min(4*len(v)+16, maxText/4), -1)
			}
		case []any:
			b.multiply(h.objectPath, 3*len(v))
		case map[string]any:
			b.multiply(h.objectPath, 3*len(v))
		}
	}
}

func (b *adjuster) multiply(p objectPath, more int) {
	more = max(4, more)
	for done := 0; done < more && count(b.w.obj) <= maxValues; {
		n := min(1+done/8, more-done) // in batches, because counting the object's values takes time
		if b.fuel, b.m.left = fuel, maxValues; !b.addMany(p, n) {
			return
		}
		done += n
	}
}
