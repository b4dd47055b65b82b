package publish

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
)

// How it works: the layout is the same as in kubectl explain, line by line, for the same document.
// Information that kubectl omits is added in lines of the same form, unless Plain is set.

// MaxText limits the size of an explanation, and of the CRD's text on a page, in bytes. A small CRD
// with deeply nested fields could otherwise produce gigabytes.
const MaxText = 16 << 20

// TooLongError reports that an explanation or a page would exceed MaxText. Hint is a hint on how to reduce it, or "".
type TooLongError struct{ Name, Hint string }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("%s: the output is longer than %d MiB%s", e.Name, MaxText>>20, e.Hint)
}

// Layout selects the parts of an explanation.
type Layout struct {
	Recursive bool
	MaxDepth  int // limit for Recursive; 0 is unlimited
	// Plain produces exactly the text of kubectl.
	Plain bool
	// Costs holds estimates by version, path, and index of the rule. A rule without an entry is shown without cost.
	Costs map[engine.RuleRef]Cost
}

// Cost is an estimate in CEL cost units.
type Cost struct{ One, All, Limit uint64 }

// Explain returns the text of kubectl explain, with bounds, defaults, and rules unless Plain is
// set. The only possible error is a *TooLongError.
func (p *Target) Explain(l Layout) (string, error) {
	e := &explainer{Target: p, layout: l}
	e.head()
	e.describe()
	if !l.Plain {
		e.writeValidation()
	}
	e.fieldList(e.schema, 1)
	e.line("")
	if e.full {
		return "", &TooLongError{strings.TrimSuffix(p.CRD.Spec.Names.Plural+"."+p.Path, "."), ": name a field below it, or lower --max-depth"}
	}
	return e.text.String(), nil
}

type explainer struct {
	*Target
	layout Layout
	text   strings.Builder
	begun  bool // FIELDS has been written
	full   bool
}

func (e *explainer) line(text string) {
	if e.full = e.full || e.text.Len()+len(text) > MaxText; !e.full {
		e.text.WriteString(text)
		e.text.WriteByte('\n')
	}
}

func (e *explainer) block(headline string, lines ...string) {
	e.line(headline + ":")
	for _, line := range lines {
		e.line(indented(line, 4))
	}
}

func (e *explainer) head() {
	e.line("GROUP:      " + e.CRD.Spec.Group)
	e.line("KIND:       " + e.CRD.Spec.Names.Kind)
	e.line("VERSION:    " + e.Version)
	e.line("")
	if e.name == "" {
		return
	}
	e.line(fmt.Sprintf("FIELD: %s <%s>", e.name, e.typeOf(e.schema)))
	if enum := list(e.schema["enum"]); len(enum) > 0 {
		e.block("ENUM", choices(enum)...)
	} else {
		e.line("")
	}
	e.line("")
}

func (e *explainer) describe() {
	s := e.resolved(e.schema)
	var b strings.Builder
	e.descriptions(&b, s)
	e.block("DESCRIPTION", wrapped(cmp.Or(b.String(), "<empty>"), 76))
	if docs := externalDocs(s, 76); len(docs) > 0 {
		e.line("")
		e.block("EXTERNAL DOCS", docs...)
	}
}

// descriptions writes the descriptions of a value and its parts. Like kubectl, it includes the
// descriptions of a list's items and a map's values.
func (e *explainer) descriptions(b *strings.Builder, s node) {
	s = e.resolved(s)
	if text := s.Text("description"); text != "" {
		b.WriteString(text + "\n")
	}
	for _, part := range junctor(s, "allOf") {
		e.descriptions(b, part)
	}
	for _, below := range []string{"items", "additionalProperties"} {
		if child := s.Child(below); len(child) > 0 {
			e.descriptions(b, child)
		}
	}
}

func externalDocs(s node, width int) (lines []string) {
	docs := s.Child("externalDocs")
	if text := docs.Text("description"); text != "" {
		lines = append(lines, wrapped(text, width))
	}
	if url := docs.Text("url"); url != "" {
		lines = append(lines, "URL: "+url)
	}
	return lines
}

func (e *explainer) fieldList(s node, level int) {
	s = e.resolved(s)
	properties := s.Child("properties")
	required := list(s["required"])
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if e.full {
			return
		}
		field := properties.Child(name)
		e.listed(name, field, slices.Contains(required, any(name)), level)
		if e.layout.Recursive && (e.layout.MaxDepth == 0 || level < e.layout.MaxDepth) {
			e.fieldList(field, level+1)
		}
	}
	for _, part := range junctor(s, "allOf") {
		e.fieldList(part, level)
	}
	for _, below := range []string{"items", "additionalProperties"} {
		if child := s.Child(below); len(child) > 0 {
			e.fieldList(child, level)
		}
	}
}

func (e *explainer) listed(name string, s node, required bool, level int) {
	if !e.begun {
		e.line("FIELDS:")
		e.begun = true
	}
	indent := 2 * level
	line := indented(name, indent) + "\t<" + e.typeOf(s) + ">"
	if required {
		line += " -required-"
	}
	e.line(line)
	if enum := list(s["enum"]); len(enum) > 0 {
		shown := choices(enum[:min(len(enum), shownChoices)])
		more := ""
		if len(enum) > shownChoices {
			more = ", ...."
		}
		e.line(indented("enum: "+strings.Join(shown, ", ")+more, indent))
	}
	if !e.layout.Plain {
		if words := oneLine(s); words != "" {
			e.line(indented(words, indent))
		}
	}
	if e.layout.Recursive {
		return
	}
	e.line(indented(wrapped(cmp.Or(s.Text("description"), "<no description>"), 78-indent), indent+2))
	if docs := externalDocs(s, 76-indent); len(docs) > 0 {
		e.line("")
		e.line(indented("EXTERNAL DOCS:", indent+2))
		for _, line := range docs {
			e.line(indented(line, indent+4))
		}
	}
	e.line("")
}

const shownChoices = 4

func choices(enum []any) []string {
	texts := make([]string, 0, len(enum))
	for _, v := range enum {
		switch v {
		case "":
			v = `""`
		case nil:
			v = "<no value>"
		}
		texts = append(texts, fmt.Sprint(v))
	}
	return texts
}

// typeOf returns the name of a type as kubectl prints it.
func (e *explainer) typeOf(s node) string {
	if items := s.Child("items"); len(items) > 0 {
		return "[]" + e.typeOf(items)
	}
	if entries := s.Child("additionalProperties"); len(entries) > 0 {
		return "map[string]" + e.typeOf(entries)
	}
	if all := junctor(s, "allOf"); len(all) == 1 && len(s.Child("properties")) == 0 {
		return e.typeOf(all[0])
	}
	if name := s.Text("$ref"); name != "" {
		if to := e.types[name]; to.Text("type") != "object" {
			return to.Text("type")
		}
		return name
	}
	if kind := s.Text("type"); kind != "" && kind != "object" {
		return kind
	}
	return "Object"
}
