package schema

import (
	"maps"
	"slices"
)

// standard is a default, complete in itself. It is given away in copies: where its
// maps and lists stand is known, and so nobody looks for them again.
type standard struct {
	value any // not to be changed
	below []standardBelow
}

type standardBelow struct {
	name     string // of a map's entry
	index    int    // of a list's item
	standard *standard
}

func newStandard(value any) *standard {
	s := &standard{value: value}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			s.add(value[name], standardBelow{name: name})
		}
	case []any:
		for i, item := range value {
			s.add(item, standardBelow{index: i})
		}
	}
	return s
}

func (s *standard) add(value any, at standardBelow) {
	switch value.(type) {
	case map[string]any, []any:
		at.standard = newStandard(value)
		s.below = append(s.below, at)
	}
}

func (s *standard) copy() any {
	switch value := s.value.(type) {
	case map[string]any:
		own := maps.Clone(value)
		for _, b := range s.below {
			own[b.name] = b.standard.copy()
		}
		return own
	case []any:
		own := slices.Clone(value)
		for _, b := range s.below {
			own[b.index] = b.standard.copy()
		}
		return own
	}
	return s.value
}
