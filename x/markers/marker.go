package markers

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Marker is a comment from which a generator makes a rule.
type Marker struct {
	// Name is the name of the marker, such as "kubebuilder:validation:XValidation".
	Name string
	// Arguments holds the arguments up to the first syntax error.
	Arguments []Argument
	// Made is the rule that a generator derives from a marker without a rule argument, such as
	// +k8s:immutable. It is "" for other markers.
	Made string
	// Type and Field identify the declaration that the marker belongs to. Field is "" for a marker
	// of a type. Both are "" for a stray marker.
	Type, Field string

	file       *file
	start, end int // offsets in the file, from the + on
	items      bool
	inDoc      bool // in the doc comment of a type, which gofmt may rewrite
	hidden     bool // belongs to a field that is not in objects
	bad        *badArgument
	decl       *typeDecl
	used       bool // some CRD has its rule
}

// Position is a position in a file. Lines and columns count from 1, and columns count characters.
type Position struct {
	File         string
	Line, Column int
}

// Rule returns the expression of the rule.
func (m *Marker) Rule() string {
	if m.Made != "" {
		return m.Made
	}
	return m.Argument("rule")
}

// Argument returns the value of an argument, or "" if the marker does not have it.
func (m *Marker) Argument(name string) string {
	if v := m.value(name); v != nil {
		return v.Text
	}
	return ""
}

func (m *Marker) value(name string) *Value {
	for i := len(m.Arguments) - 1; i >= 0; i-- { // the last occurrence counts
		if m.Arguments[i].Name == name {
			return &m.Arguments[i].Value
		}
	}
	return nil
}

// Position returns the start of the marker.
func (m *Marker) Position() Position { return m.file.position(m.start) }

// At returns the position in the file of a line and column, both from 1, in the value of an
// argument. If the marker does not have the argument, At returns the start of the marker.
func (m *Marker) At(argument string, line, column int) Position {
	v := m.value(argument)
	if v == nil {
		return m.Position()
	}
	return m.file.position(v.offset(v.at(line, column)))
}

// Line returns the line of source that contains the marker.
func (m *Marker) Line() string { return m.file.line(m.start) }

// newMarker parses a single-line comment at an offset of the file. It returns nil if the comment
// does not make a rule.
func newMarker(f *file, text string, offset int) *Marker {
	if !strings.HasPrefix(text, "//") {
		return nil
	}
	body := strings.TrimSpace(text[2:])
	// Gateway API has <gateway:experimental:…> markers in addition to those with a +.
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
	case oneOf[name].one != "" && hasValue:
		m.Name, m.Made = name, oneOf[name].rule(fieldNames(rest))
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

// oneOf holds the markers for which controller-tools generates the rule.
var oneOf = map[string]fieldRule{
	"kubebuilder:validation:ExactlyOneOf": {"(has(self.F)?1:0)", "+", " == 1"},
	"kubebuilder:validation:AtMostOneOf":  {"(has(self.F)?1:0)", "+", " <= 1"},
	"kubebuilder:validation:AtLeastOneOf": {"has(self.F)", "||", ""},
}

// A fieldRule is a rule about fields: a part for each field F, the operator between the parts, and the end.
type fieldRule struct{ one, between, end string }

func (r fieldRule) rule(fields []string) string {
	if len(fields) == 0 {
		return ""
	}
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = strings.Replace(r.one, "F", f, 1)
	}
	return strings.Join(parts, r.between) + r.end
}

// misplaced returns where the marker should be, if generators ignore it at its type or field, or "".
func (m *Marker) misplaced() string {
	switch {
	case m.Name == immutableName && m.Type != "" && m.Field == "":
		return "to the fields of the type"
	case oneOf[m.Name].one != "" && m.Field != "":
		return "to the type of the field"
	case m.hidden:
		return "to a field that is part of objects"
	}
	return ""
}

// fieldNames parses a list of fields, as a;b or {a,b}, quoted or not.
func fieldNames(text string) (names []string) {
	text = strings.Trim(strings.TrimSpace(text), "{}")
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == ',' }) {
		names = append(names, strings.Trim(strings.TrimSpace(name), "\"`"))
	}
	return names
}

// alsoUnset returns a marker for the rule that controller-tools adds to the enclosing struct of an
// immutable field, unless the field is required.
func alsoUnset(m *Marker, field string) *Marker {
	more := *m
	more.Made = "!has(oldSelf." + field + ") || has(self." + field + ")"
	return &more
}

func (f *file) position(offset int) Position {
	line := f.lineAt(offset)
	from := f.lines[line]
	return Position{f.name, line + 1, utf8.RuneCountInString(f.text[from:offset]) + 1}
}

func (f *file) line(offset int) string {
	text, _, _ := strings.Cut(f.text[f.lines[f.lineAt(offset)]:], "\n")
	return strings.TrimSuffix(text, "\r")
}

// IsMarker reports whether a single-line comment is a marker for a rule, even if generators cannot
// read its arguments.
func IsMarker(comment string) bool {
	return newMarker(&file{text: comment}, comment, 0) != nil
}
