package schema

import (
	"maps"
	"slices"
)

// A standard is a complete default. It is copied for each use. It records where its maps and lists
// are, so that a copy does not need to search for them.
type standard struct {
	value any // read-only
	below []standardBelow
}

type standardBelow struct {
	name     string // key in a map
	index    int    // index in a list
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
