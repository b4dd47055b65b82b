package ruletest

import (
	"fmt"

	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// Update returns the suite's text with the actual results instead of failed expectations, and the
// number of changed cases. text is nil if changed is 0. errs lists the cases that must be edited by
// hand.
func (s *Suite) Update(r *SuiteReport) (text []byte, changed int, errs []error) {
	var all []position.Change
	for _, one := range r.Cases {
		t := one.trial
		if t == nil || t.staged || len(t.wrong) == 0 {
			continue
		}
		changes := one.of.body.golden(one.of, t)
		if len(changes) == 0 {
			continue
		}
		if _, err := s.reader.doc.Edit(changes...); err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %s: %w", s.File, one.of.Line, one.of.Name, err))
			continue
		}
		all = append(all, changes...)
		changed++
	}
	if changed == 0 {
		return nil, 0, errs
	}
	text, err := s.reader.doc.Edit(all...)
	if err != nil {
		return nil, 0, append(errs, fmt.Errorf("%s:%d: %w", s.File, s.Line, err))
	}
	return text, changed, errs
}
