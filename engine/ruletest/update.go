package ruletest

import (
	"fmt"
	"maps"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/internal/yamlpos"
)

// Update is the suite's text with what came of its cases in place of what they
// expect, where that is something else; every other byte is the same. Changed is the
// number of cases. The error is of what has to be edited by hand; what can be
// changed is changed all the same.
func (s *Suite) Update(r *SuiteReport) (text []byte, changed int, err error) {
	if s.reader == nil {
		return nil, 0, nil
	}
	byName := map[*Case]bool{}
	var all []yamlpos.Change
	for _, one := range r.Cases {
		if one.Outcome != Failed || byName[one.of] {
			continue
		}
		byName[one.of] = true
		changes := one.of.body.golden(one.of, &one.trial.outcome)
		if len(changes) == 0 {
			continue
		}
		if _, wrong := s.reader.doc.Edit(changes...); wrong != nil {
			err = fmt.Errorf("%s:%d: %s: %w", s.File, one.of.Line, one.of.Name, wrong)
			continue
		}
		all = append(all, changes...)
		changed++
	}
	if changed == 0 {
		return nil, 0, err
	}
	text, wrong := s.reader.doc.Edit(all...)
	if wrong != nil {
		return nil, 0, fmt.Errorf("%s:%d: %w", s.File, s.Line, wrong)
	}
	return text, changed, err
}

// tidy is a persisted object without what a server fills in.
func tidy(object map[string]any) map[string]any {
	out, meta := maps.Clone(object), metadata(object)
	for _, name := range generated {
		delete(meta, name)
	}
	settle(out, meta)
	return out
}

// yamlText is an object as the text of a suite's string.
func yamlText(object map[string]any) string {
	data, err := yaml.Marshal(object)
	if err != nil { // of a decoded object it cannot be
		return ""
	}
	return string(data)
}
