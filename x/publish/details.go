package publish

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/preview"
)

const shownDefault = 60

// bounds returns a schema's constraints apart from type and enum.
func bounds(s node) string {
	s = maps.Clone(s)
	delete(s, "enum")
	return s.Bounds()
}

// oneLine returns the information that kubectl omits, for a list of fields.
func oneLine(s node) string {
	var parts []string
	if words := bounds(s); words != "" {
		parts = append(parts, "bounds: "+words)
	}
	if v, ok := s["default"]; ok {
		parts = append(parts, "default: "+preview.JSON(v, shownDefault))
	}
	if n := len(list(s["x-kubernetes-validations"])); n > 0 {
		parts = append(parts, fmt.Sprint("rules: ", n))
	}
	return strings.Join(parts, "; ")
}

func (e *explainer) writeValidation() {
	if words := bounds(e.schema); words != "" {
		e.block("BOUNDS", wrapped(words, 76))
	}
	if v, ok := e.schema["default"]; ok {
		data, _ := json.Marshal(v) // it was decoded from JSON
		e.block("DEFAULT", string(data))
	}
	var lines []string
	for _, at := range parts(e.Path, e.schema) {
		for _, r := range rules(at.schema) {
			lines = append(lines, e.rule(r, at.path, e.Path)...)
		}
	}
	if len(lines) > 0 {
		e.block("RULES", lines...)
	}
}

// part is a schema with its path in the form of engine.RuleRef.Path.
type part struct {
	path   string
	schema node
}

// parts returns a value and its unnamed parts: the items of a list, the entries of a map, and so on.
func parts(path string, s node) (all []part) {
	for ; s != nil; s = elements(s) {
		all = append(all, part{path, s})
		path += "[*]"
	}
	return all
}

type rule struct {
	index int
	node
}

func rules(s node) (all []rule) {
	for i, v := range list(s["x-kubernetes-validations"]) {
		v, _ := v.(map[string]any)
		all = append(all, rule{i, v})
	}
	return all
}

func (e *explainer) rule(r rule, path, here string) (lines []string) {
	lines = append(lines, lex.Flat(r.Text("rule")))
	add := func(what, text string) {
		if text != "" {
			lines = append(lines, "    "+what+": "+lex.OneLine(text))
		}
	}
	if path != here {
		add("of", path)
	}
	for _, fact := range r.facts() {
		add(fact.Name, fact.Text)
	}
	if c, ok := e.layout.Costs[engine.RuleRef{Version: e.Version, Path: path, Index: r.index}]; ok {
		add("cost", c.String())
	}
	return lines
}

// Fact is a property of a rule, field, version, or resource.
type Fact struct{ Name, Text string }

func (r rule) facts() (all []Fact) {
	for _, f := range []Fact{
		{"message", r.Text("message")}, {"messageExpression", lex.Flat(r.Text("messageExpression"))},
		{"reason", r.Text("reason")}, {"fieldPath", r.Text("fieldPath")},
	} {
		if f.Text != "" {
			all = append(all, f)
		}
	}
	if r.node["optionalOldSelf"] == true {
		all = append(all, Fact{"optionalOldSelf", "true"})
	}
	return all
}

// String returns the estimate as a phrase.
func (c Cost) String() string {
	text := fmt.Sprintf("at most %s of %s units", phrase.Number(c.All), phrase.Number(c.Limit))
	if c.All != c.One {
		text += fmt.Sprintf(" per object, %s per run", phrase.Number(c.One))
	}
	return text
}

func (p *Target) resolved(s node) node {
	if to := p.types[s.Text("$ref")]; to != nil {
		return to
	}
	return s
}

// A found is a field and the number of lists and maps that it is in.
type found struct {
	schema  node
	through int
}

// fields returns the fields that kubectl finds by name: in the properties of s, of its items or entries, or of a part
// of allOf.
func (p *Target) fields(s node) map[string]found {
	all := map[string]found{}
	add := func(name string, f found) {
		if _, ok := all[name]; !ok && f.schema != nil {
			all[name] = f
		}
	}
	for through := 0; s != nil; s, through = elements(s), through+1 {
		s = p.resolved(s)
		for name := range s.Child("properties") {
			add(name, found{s.Child("properties").Child(name), through})
		}
		if elements(s) != nil {
			continue
		}
		for _, part := range junctor(s, "allOf") {
			for name, f := range p.fields(part) {
				add(name, found{f.schema, f.through + through})
			}
		}
	}
	return all
}

func elements(s node) node {
	for _, below := range []string{"items", "additionalProperties"} {
		if part := s.Child(below); len(part) > 0 {
			return part
		}
	}
	return nil
}

func junctor(s node, word string) (all []node) {
	for _, part := range list(s[word]) {
		part, _ := part.(map[string]any)
		all = append(all, part)
	}
	return all
}

func list(v any) []any {
	all, _ := v.([]any)
	return all
}
