package ruletest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// NewSuite returns the text of a suite in Celadon's format that has no cases yet. crd is the path of
// the CRD, relative to the suite's folder, or the name of the CRD.
func NewSuite(name, crd string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "kind: %s\napiVersion: %s\n", Kind, APIVersion)
	writeField(&b, "", "name", name)
	writeField(&b, "", "crd", crd)
	b.WriteString("tests: []\n")
	return b.Bytes()
}

// Append returns the suite's text with a case for a write, which expects nothing yet. To add the
// actual result, run the case with Config.Fill, and then call Update. All other bytes stay. Append
// returns an error if the suite has a case with this name or is not in Celadon's format.
func (s *Suite) Append(name string, req engine.Request) ([]byte, error) {
	for _, c := range s.Cases {
		if c.Name == name {
			return nil, fmt.Errorf("%s:%d: the suite already has a test %q: use another name", s.File, c.Line, name)
		}
	}
	switch {
	case s.reader == nil && len(s.Problems) > 0: // not YAML
		return nil, s.firstProblem()
	case s.reader == nil || !s.whole:
		return nil, fmt.Errorf("%s: not a suite of kind %s", s.File, Kind)
	}
	one := position.Map{{Key: "name", Value: name}, {Key: "object", Value: req.Object}}
	if req.OldObject != nil {
		one = append(one, position.Entry{Key: "old", Value: req.OldObject})
	}
	if req.Subresource != "" {
		one = append(one, position.Entry{Key: "subresource", Value: req.Subresource})
	}
	tests := position.Path{position.Key("tests")}
	_, list := s.reader.doc.Find(tests)
	if list == nil || list.Kind != position.Sequence {
		if len(s.Problems) > 0 {
			return nil, s.firstProblem()
		}
		return nil, fmt.Errorf("%s: tests: want a list", s.File)
	}
	change := position.Insert(pathBelow(tests, position.Item(len(list.Items))), one)
	if len(list.Items) == 0 {
		change = position.Set(tests, []any{one})
	}
	text, err := s.reader.doc.Edit(change)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.File, err)
	}
	if len(text) > maxText {
		return nil, errors.New(tooMany("bytes", len(text), maxText))
	}
	return text, nil
}

func (s *Suite) firstProblem() error {
	p := s.Problems[0]
	return fmt.Errorf("%s:%d: %s", s.File, p.Line, p.Message)
}
