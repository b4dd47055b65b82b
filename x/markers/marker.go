package markers

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Marker is a comment that makes a rule.
type Marker struct {
	// Name is the marker's, as "kubebuilder:validation:XValidation".
	Name string
	// Arguments are those of the rule, as far as they can be read.
	Arguments []Argument
	// Made is the rule that a generator makes of a marker that holds none itself,
	// as +k8s:immutable; "" is any other.
	Made string
	// Type and Field are what the marker stands at; Field is "" at a type, both
	// where it stands at neither.
	Type, Field string

	file       *file
	start, end int // in the file: from the + on
	items      bool
	inDoc      bool // of a type: gofmt rewrites such comments
	hidden     bool // at a field that objects do not have
	implied    bool // made beside another rule, and not always
	bad        *badArgument
	decl       *typeDecl
	used       bool // a CRD has its rule
}

// Position is a place in a file, from 1. Columns count characters.
type Position struct {
	File         string
	Line, Column int
}

// Rule is the text of the rule.
func (m *Marker) Rule() string {
	if m.Made != "" {
		return m.Made
	}
	return m.Argument("rule")
}

// Argument is the text of an argument; "" where there is none.
func (m *Marker) Argument(name string) string {
	if v := m.value(name); v != nil {
		return v.Text
	}
	return ""
}

func (m *Marker) value(name string) *Value {
	for i := len(m.Arguments) - 1; i >= 0; i-- { // the last one counts
		if m.Arguments[i].Name == name {
			return &m.Arguments[i].Value
		}
	}
	return nil
}

// Position is where the marker begins.
func (m *Marker) Position() Position { return m.file.position(m.start) }

// At is where a line and a column, both from 1, of an argument's text stand. What has
// no such argument is the marker itself.
func (m *Marker) At(argument string, line, column int) Position {
	v := m.value(argument)
	if v == nil {
		return m.Position()
	}
	return m.file.position(v.offset(v.at(line, column)))
}

// Line is the text of the line that the marker stands on.
func (m *Marker) Line() string { return m.file.line(m.start) }

// newMarker reads a comment of one line; nil where it makes no rule. The text begins
// at an offset of the file.
func newMarker(f *file, text string, offset int) *Marker {
	if !strings.HasPrefix(text, "//") {
		return nil
	}
	body := strings.TrimSpace(text[2:])
	// Gateway API has <gateway:experimental:…> markers beside those with a +.
	if body == "" || body[0] != '+' && body[0] != '<' {
		return nil
	}
	if body[0] == '<' {
		body = strings.TrimSuffix(body, ">")
	}
	offset += 2 + len(text[2:]) - len(strings.TrimLeftFunc(text[2:], unicode.IsSpace))
	m := &Marker{file: f, start: offset, end: offset + len(body)}
	name, rest, hasValue := strings.Cut(body[1:], "=")
	switch {
	case name == immutableName:
		m.Name, m.Made = name, "self == oldSelf"
		return m
	case oneOf[name] != nil && hasValue:
		m.Name, m.Made = name, oneOf[name](fieldNames(rest))
		if m.Made == "" {
			return nil
		}
		return m
	}
	colon := strings.LastIndexByte(name, ':')
	if colon < 0 || !hasValue || !strings.HasSuffix(name[:colon], "XValidation") {
		return nil
	}
	m.Name = name[:colon]
	m.items = strings.HasSuffix(m.Name, ":items:XValidation")
	m.Arguments, m.bad = arguments(body[1+colon+1:], offset+1+colon+1, strings.HasPrefix(m.Name, "kubebuilder:validation:"))
	return m
}

const immutableName = "k8s:immutable"

// oneOf are markers of which controller-tools writes the rule itself.
var oneOf = map[string]func([]string) string{
	"kubebuilder:validation:ExactlyOneOf": func(fields []string) string { return atMost(fields, " == 1") },
	"kubebuilder:validation:AtMostOneOf":  func(fields []string) string { return atMost(fields, " <= 1") },
	"kubebuilder:validation:AtLeastOneOf": func(fields []string) string {
		return joined(fields, "has(self.", ")", "||")
	},
}

// misplaced is where the marker is to go, where generators do not read it at a type, or
// not at a field.
func (m *Marker) misplaced() string {
	switch {
	case m.Name == immutableName && m.Type != "" && m.Field == "":
		return "to the fields of the type"
	case oneOf[m.Name] != nil && m.Field != "":
		return "to the type of the field"
	case m.hidden:
		return "to a field that objects have"
	}
	return ""
}

func atMost(fields []string, count string) string {
	if sum := joined(fields, "(has(self.", ")?1:0)", "+"); sum != "" {
		return sum + count
	}
	return ""
}

func joined(fields []string, before, behind, between string) string {
	var b strings.Builder
	for i, f := range fields {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(before + f + behind)
	}
	return b.String()
}

// fieldNames are a list's, a;b or {a,b}, quoted or not.
func fieldNames(text string) (names []string) {
	text = strings.Trim(strings.TrimSpace(text), "{}")
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == ',' }) {
		names = append(names, strings.Trim(strings.TrimSpace(name), "\"`"))
	}
	return names
}

// alsoUnset is the rule that controller-tools adds beside an immutable field, at the
// struct around it, unless the field is required.
func alsoUnset(m *Marker, field string) *Marker {
	more := *m
	more.Made, more.implied = "!has(oldSelf."+field+") || has(self."+field+")", true
	return &more
}

// position is where an offset stands.
func (f *file) position(offset int) Position {
	line := f.lineAt(offset)
	from := f.lines[line]
	return Position{f.name, line + 1, utf8.RuneCountInString(f.text[from:offset]) + 1}
}

// line is the text of the line of an offset.
func (f *file) line(offset int) string {
	text, _, _ := strings.Cut(f.text[f.lines[f.lineAt(offset)]:], "\n")
	return strings.TrimSuffix(text, "\r")
}

// IsMarker is true of a comment of one line that makes a rule.
func IsMarker(comment string) bool {
	return newMarker(&file{text: comment}, comment, 0) != nil
}
