package publish

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/preview"
)

// Field is a field of a version, or its root, which has an empty Path.
type Field struct {
	Path string
	// Allowed holds the type, bounds, and default on one line. Also holds the schemas of allOf, anyOf,
	// oneOf, and not.
	Allowed     string
	Also        []Fact
	Description string
	Rules       []Rule
}

// Rule is a rule with its details.
type Rule struct {
	Of    string // the path, if it is not the field's own
	Text  string
	Facts []Fact
	Cost  string // "" if unknown
}

const (
	shownJunctor = 300
	// fieldCost estimates the bytes per field or rule in addition to its text.
	fieldCost = 300
	// pathTimes is how often HTML repeats a field's path.
	pathTimes = 5
)

// read collects the fields of the schema, each before its children. It subtracts their size in
// bytes from bytesLeft and stops as soon as it is negative.
func (v *Version) read(costs map[engine.RuleRef]Cost, bytesLeft *int) error {
	s := structuralOf(v.CustomResourceDefinitionVersion)
	if s == nil {
		return nil
	}
	root, err := decoded(s)
	if err != nil {
		return err
	}
	w := &pageWalk{version: v.Name, costs: costs, bytesLeft: bytesLeft}
	w.walk("", 0, root, false)
	v.Root, v.Fields, v.deepest = w.all[0], w.all[1:], w.deepest
	return nil
}

type pageWalk struct {
	version   string
	costs     map[engine.RuleRef]Cost
	bytesLeft *int
	all       []*Field
	deepest   int // in names and [*]
}

func (w *pageWalk) walk(path string, depth int, s node, required bool) {
	f := &Field{Path: path, Description: descriptionOf(s)}
	f.Allowed = describeValues(s, required, path == "")
	for _, word := range []string{"allOf", "anyOf", "oneOf", "not"} {
		if v, ok := s[word]; ok {
			f.Also = append(f.Also, Fact{word, preview.JSON(v, shownJunctor)})
		}
	}
	below := map[string]node{}
	for _, at := range parts(path, s) {
		f.Rules = append(f.Rules, w.rules(at, path)...)
		if at.path != path {
			f.Description = strings.TrimSpace(f.Description + "\n\n" + descriptionOf(at.schema))
		}
		below[at.path] = at.schema
	}
	w.deepest = max(w.deepest, depth+len(below))
	if w.add(f); *w.bytesLeft < 0 {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(below)) {
		w.below(path, below[path])
	}
}

func describeValues(s node, required, root bool) string {
	words := s.Describe(required)
	if words == "" && !root {
		words = cmp.Or(s.Kind(), "anything")
	}
	for _, more := range []struct{ key, words string }{
		{"x-kubernetes-embedded-resource", "a complete embedded object"},
		{"x-kubernetes-preserve-unknown-fields", "unknown fields are kept"},
	} {
		if s[more.key] == true {
			words = strings.TrimPrefix(words+", "+more.words, ", ")
		}
	}
	return words
}

func descriptionOf(s node) string { return replaceTabs(s.Text("description")) }

// replaceTabs replaces tabs, which would be shown as untrusted characters.
func replaceTabs(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\t", "    ")
}

func (w *pageWalk) add(f *Field) {
	size := fieldCost + pathTimes*len(f.Path) + len(f.Allowed) + len(f.Description)
	for _, r := range f.Rules {
		size += fieldCost + len(r.Of) + len(r.Text)
		for _, fact := range r.Facts {
			size += len(fact.Text)
		}
	}
	*w.bytesLeft -= size
	w.all = append(w.all, f)
}

// below visits the fields of an object. At the root, apiVersion, kind, and metadata are included only
// if the CRD declares properties or rules for them.
func (w *pageWalk) below(path string, s node) {
	steps, err := engine.ParsePath(path)
	if err != nil {
		return // impossible for a path from FormatPath
	}
	required := list(s["required"])
	properties := s.Child("properties")
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		field := properties.Child(name)
		if path == "" && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) && len(field.Child("properties")) == 0 && len(rules(field)) == 0 {
			continue
		}
		w.walk(engine.FormatPath(append(slices.Clip(steps), engine.Step{Name: name})), len(steps)+1, field, slices.Contains(required, any(name)))
	}
}

func (w *pageWalk) rules(at part, here string) (all []Rule) {
	for _, r := range rules(at.schema) {
		one := Rule{Text: replaceTabs(r.Text("rule")), Facts: r.facts()}
		if at.path != here {
			one.Of = at.path
		}
		if c, ok := w.costs[engine.RuleRef{Version: w.version, Path: at.path, Index: r.index}]; ok {
			one.Cost = c.String()
		}
		all = append(all, one)
	}
	return all
}
