package markers

// maxAlike limits how many markers with the same text are considered for a node.
const maxAlike = 1000

// markerSet holds the markers of a type or field, indexed by the text of their rule.
type markerSet struct {
	list          []*Marker
	rules, ofItem map[string][]*Marker
}

// newSet returns nil if list is empty.
func newSet(list []*Marker) *markerSet {
	if len(list) == 0 {
		return nil
	}
	s := &markerSet{list, map[string][]*Marker{}, map[string][]*Marker{}}
	for _, m := range list {
		if m.misplaced() != "" {
			continue
		}
		if m.items {
			s.ofItem[m.Rule()] = append(s.ofItem[m.Rule()], m)
		} else {
			s.rules[m.Rule()] = append(s.rules[m.Rule()], m)
		}
	}
	return s
}

// alike returns the markers that may have made a rule with this text, in order.
func (at *spot) alike(rule string) (all []*Marker) {
	add := func(more []*Marker) { all = append(all, more[:min(len(more), maxAlike-len(all))]...) }
	for _, s := range at.sets {
		add(s.rules[rule])
	}
	for _, s := range at.above {
		add(s.ofItem[rule])
	}
	return all
}

// add adds the markers of a type or field.
func (at *spot) add(s *markerSet) {
	if s != nil {
		at.sets = append(at.sets, s)
	}
}
