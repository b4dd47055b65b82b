package publish

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
)

// How it works: the layout is that of kubectl explain, line by line, over the
// same document. What kubectl does not say stands between its lines, in lines of
// the same form; Plain leaves it out.

// MaxText is how long an explanation may be, or what a CRD says on a page, in
// bytes: a small CRD whose fields lie deep in one another has one of gigabytes.
const MaxText = 16 << 20

// TooLongError says that an explanation or a page would be longer than MaxText,
// and what to do where there is something.
type TooLongError struct{ Name, Mend string }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("%s: the text is longer than %d MiB%s", e.Name, MaxText>>20, e.Mend)
}

// Layout says how much of a place is explained.
type Layout struct {
	Recursive bool
	MaxDepth  int // of Recursive; 0 is all
	// Plain is kubectl's text, byte for byte.
	Plain bool
	// Costs are the estimates of rules by version, path and index; those that
	// are not there are not shown.
	Costs map[engine.RuleRef]Cost
}

// Cost is an estimate in CEL cost units.
type Cost struct{ One, All, Limit uint64 }

// Explain is the text of kubectl explain, and bounds, default and rules beside
// it. A *TooLongError is the only error.
func (p *Place) Explain(l Layout) (string, error) {
	e := &explainer{Place: p, layout: l}
	e.head()
	e.describe()
	if !l.Plain {
		e.beside()
	}
	e.fieldList(e.schema, 1)
	e.line("")
	if e.full {
		return "", &TooLongError{strings.TrimSuffix(p.CRD.Spec.Names.Plural+"."+p.Path, "."), ": want a field below it, or less depth"}
	}
	return e.text.String(), nil
}

type explainer struct {
	*Place
	layout Layout
	text   strings.Builder
	begun  bool // FIELDS stands above fields, if there are any
	full   bool
}

func (e *explainer) line(text string) {
	if e.full = e.full || e.text.Len()+len(text) > MaxText; !e.full {
		e.text.WriteString(text)
		e.text.WriteByte('\n')
	}
}

// block is a headline and what stands below it.
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

// descriptions are those of a value and of what it is made of: kubectl shows the
// items' with the list's.
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

// externalDocs are the lines of a schema's link to other documents.
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

// fieldList lists the fields of an object, and of what a list, a map or allOf has
// in their stead.
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

// listed is one line in a recursive list, and else a line and what is said of it.
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

// shownChoices is how many values of an enum stand in a list of fields.
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

// typeOf is a type in kubectl's words.
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
