package hint

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint/table"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// How it works: the kinds of mistakes outside of CEL are in package table. The server's message identifies a kind.
// Its hint is a sentence there, or comes from a function that looks at the value, its source, and its schema.

// A Subject is the object that a server rejects.
type Subject struct {
	Excerpts *excerpt.Excerpts
	// Path returns the path of a cause's field in the document.
	Path func(field string) string
	// Schema is the schema of a custom resource, or nil for a CRD. Minor is the Kubernetes minor version.
	Schema *apiextensionsv1.JSONSchemaProps
	Minor  int
}

// Outside adds hints to causes that are not about CEL. Causes that the server reports elsewhere get the position of the value
// that they are about.
func (s *Subject) Outside(causes []finding.Cause) {
	for i := range causes[:min(len(causes), excerpt.Shown)] {
		c := &causes[i]
		if c.Hint != "" || c.Summary != "" || c.Incomplete() {
			continue
		}
		m := mistake{Subject: s, path: s.Path(c.Field), cause: c, causes: causes}
		if c.Hint = m.placeholder(); c.Hint == "" {
			m.explain()
		}
		if s.Excerpts.Texts.In(c.Hint) {
			c.Hint = ""
		}
	}
	for i := range causes[:min(len(causes), excerpt.Shown)] { // causes of one value share its hint
		c := &causes[i]
		same := func(o finding.Cause) bool { return o.Field == c.Field && o.Line == c.Line && o.Hint != "" }
		if j := slices.IndexFunc(causes[:min(len(causes), excerpt.Shown)], same); j >= 0 && c.Hint == "" && c.Rule == "" && c.Line > 0 {
			c.Hint = causes[j].Hint
		}
	}
}

type mistake struct {
	*Subject
	path   string // in the document
	cause  *finding.Cause
	causes []finding.Cause
	groups []string
}

// explain uses the first entry in the table that matches and has a hint.
func (m *mistake) explain() {
	use := func(words string, groups []string) bool {
		m.groups = groups
		if at, ok := strings.CutPrefix(words, "at:"); ok {
			m.path, words, _ = strings.Cut(at, " ")
			m.path = m.Path(m.path)
			m.move(m.path)
		}
		if name, ok := strings.CutPrefix(words, "@"); ok {
			words = m.say(name)
		}
		m.cause.Hint = words
		return words != ""
	}
	text := m.cause.Field + ": " + m.cause.Message
	if m.Schema == nil {
		table.Find("crd", text, use)
	}
	if m.cause.Hint == "" {
		table.Find("any", text, use)
	}
}

func (m *mistake) move(path string) {
	if at := m.Excerpts.Doc.Locate([]string{path})[0]; at.Line > 0 && m.Excerpts.Doc.Value(path) != nil {
		m.cause.File, m.cause.Line, m.cause.Column, m.cause.Excerpt = m.Excerpts.Doc.File, at.Line, at.Column, m.Excerpts.At(at)
	}
}

func (m *mistake) node() *position.Node { return m.Excerpts.Doc.Value(m.path) }

func (m *mistake) placeholder() string {
	n := m.node()
	if n == nil || n.Kind != position.Scalar || len(n.Value) > table.MaxText {
		return ""
	}
	return table.Leftover(n.Value)
}
