package hint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint/table"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// say returns the words of a function that the table names, or "".
func (m *mistake) say(name string) string {
	n := m.node()
	isShown := n != nil && n.Kind == position.Scalar && strings.Contains(m.cause.Excerpt.Line, n.Value) // not a secret
	switch {
	case name == "branches":
		return m.branches()
	case name == "crdName":
		return m.crdName()
	case name == "fieldPath":
		return m.fieldPath()
	case name == "uncorrelated":
		return m.uncorrelated()
	case name == "label":
		return m.label()
	case name == "required":
		return cmp.Or(m.boolean(), required(m.cause.Field, n))
	case name == "kept" && n == nil:
		return "write preserveUnknownFields: false, " +
			"and x-kubernetes-preserve-unknown-fields: true where unknown fields are to be kept"
	case name == "address":
		return address(m.groups[1], m.groups[2])
	case name == "untyped":
		return untyped(n)
	case name == "unsupported":
		return table.Key("key", m.groups[1])
	case name == "typed":
		return typed(m.groups[1], n, isShown)
	case name == "date" && isShown:
		return date(n.Value)
	case name == "pattern" && isShown:
		return rewritten(n.Value, m.groups[1])
	case name == "name" && isShown:
		return rewritten(n.Value, `^[a-z]([-a-z0-9.]*[a-z0-9])?$`)
	}
	return ""
}

var forms = map[string]string{
	"array": "a list: begin each item with -, or write it in [ ]", "object": "a map: keys with values, without -", "string": "a text",
	"integer": "a whole number", "number": "a number", "boolean": "true or false", "date-time": "a time such as 2024-01-31T12:00:00Z",
	"quantity": "a quantity such as 500m or 1Gi", "duration": "a duration such as 30s", "base64": "it in base64; a Secret's stringData takes plain text",
	"integer or string": "a number or a text",
}

// typed returns how to write a value as another type. shown is set if the words may quote the value.
func typed(want string, n *position.Node, shown bool) string {
	if n == nil || forms[want] == "" {
		return ""
	}
	write := "write " + forms[want]
	if n.Kind != position.Scalar || want == "array" || want == "object" || len(n.Value) > table.MaxText {
		return write
	}
	value, _, err := decode.Decode([]byte(n.Value))
	is := vet.TypeOf(value)
	switch {
	case err != nil:
		return write
	case n.Style == position.Plain && value == nil:
		return "nothing stands here, which is null: " + write
	case n.Style != position.Plain && (is == want || is == "integer" && want == "number"):
		return "remove the quotes"
	case n.Style != position.Plain || want != "string":
		return write
	case !shown:
		return "write it in quotes"
	}
	if read, err := json.Marshal(value); err == nil && string(read) != n.Value {
		is = fmt.Sprintf("the %s %s", is, read)
	} else {
		is = map[string]string{"boolean": "a boolean", "integer": "an integer", "number": "a number"}[is]
	}
	return fmt.Sprintf("without quotes, %s is %s: write %q", n.Value, is, n.Value)
}

func required(field string, n *position.Node) string {
	name := field[strings.LastIndexAny(field, ".]")+1:]
	switch {
	case n == nil && name != "":
		return "add " + name
	case n == nil:
		return ""
	case n.Anchor != "":
		return fmt.Sprintf("& names a value for aliases: write %q", "&"+n.Anchor)
	}
	switch value, _, err := decode.Decode([]byte(n.Value)); {
	case n.Kind != position.Scalar || err != nil || value != nil:
		return ""
	case n.Style != position.Plain && n.Value == "":
		return "the value is empty: write one"
	case n.Style != position.Plain:
		return ""
	}
	return "nothing stands here, which is null: write a value"
}

// boolean returns a hint if YAML reads the required key, written without quotes, as a boolean.
func (m *mistake) boolean() string {
	steps, err := engine.ParsePath(m.path)
	if err != nil || len(steps) == 0 {
		return ""
	}
	name := steps[len(steps)-1].Name
	key := BooleanKey(m.Excerpts.Doc, steps, func(key, _ string) bool { return key == name })
	if key == "" {
		return ""
	}
	return fmt.Sprintf("YAML reads the key %s as %s: write %q, in quotes", key, decode.Boolean(key), key)
}

// BooleanKey returns the key, next to the last step of a path, that YAML reads as a boolean with another name, and for
// which is returns true, or "".
func BooleanKey(doc *input.Document, path []engine.Step, is func(key, read string) bool) string {
	parent := doc.Value(engine.FormatPath(path[:len(path)-1]))
	if parent == nil {
		return ""
	}
	for _, key := range parent.Keys {
		read := decode.Boolean(key.Value)
		isWord := key.Kind == position.Scalar && key.Style == position.Plain && read != "" && read != key.Value
		if isWord && is(key.Value, read) {
			return key.Value
		}
	}
	return ""
}

// address returns a hint if text is an IP address of another version than the wanted one.
func address(want, text string) string {
	switch at, err := netip.ParseAddr(text); {
	case err == nil && at.Is4() && want == "ipv6":
		return "this is an IPv4 address: write an IPv6 address"
	case err == nil && at.Is6() && want == "ipv4":
		return "this is an IPv6 address: write an IPv4 address"
	}
	return ""
}

func date(text string) string {
	for _, layout := range []string{time.DateOnly, time.DateTime, "2006-01-02T15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return "write the time with T and its zone, such as " + at.Format(time.RFC3339)
		}
	}
	return "write " + forms["date-time"]
}

// rewritten returns how to write a text so that it matches a pattern, if a small change is enough.
func rewritten(text, pattern string) string {
	form := regexcost.Matcher(pattern)
	if form == nil || len(text) > table.MaxText {
		return ""
	}
	lower, upper, trimmed := strings.ToLower(text), strings.ToUpper(text), strings.TrimSpace(text)
	dashes := strings.NewReplacer("_", "-", " ", "-")
	for _, one := range []string{trimmed, lower, upper, dashes.Replace(trimmed), dashes.Replace(lower)} {
		if one != text && form.MatchString(one) {
			return fmt.Sprintf("write %q", one)
		}
	}
	return ""
}

// label moves the cause to the label that the message quotes, and returns how to write it.
func (m *mistake) label() string {
	n, quoted := m.node(), m.groups[2]
	if n == nil || n.Kind != position.Mapping {
		return ""
	}
	for i, key := range n.Keys {
		if value := n.Items[i].Resolve(); key.Value == quoted || value.Kind == position.Scalar && value.Value == quoted {
			m.move(fmt.Sprintf("metadata.%s[%s]", m.groups[1], key.Value))
			near := rewritten(quoted, `^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
			return cmp.Or(table.Leftover(quoted), near, "only letters, digits, -, _, and . may stand here, and no space")
		}
	}
	return ""
}

func untyped(n *position.Node) string {
	if n == nil || n.Kind != position.Mapping {
		return ""
	}
	for _, key := range n.Keys {
		if words := table.Key("untyped", key.Value); words != "" {
			return words
		}
	}
	return ""
}

func (m *mistake) crdName() string {
	doc := m.Excerpts.Doc
	plural, group := doc.Value("spec.names.plural"), doc.Value("spec.group")
	if plural == nil || group == nil || plural.Value == "" || group.Value == "" {
		return "the name is spec.names.plural, a dot, and spec.group"
	}
	return fmt.Sprintf("the name is that of the plural and the group: %s.%s", plural.Value, group.Value)
}

func (m *mistake) uncorrelated() string {
	_, list, _ := strings.Cut(m.groups[1], "properties[")
	name := strings.TrimSuffix(list[strings.LastIndexByte(list, '[')+1:], "]")
	n := m.Excerpts.Doc.Value(m.Path(m.groups[1]))
	if n == nil {
		return ""
	}
	_, items := n.Get("items")
	if items == nil {
		return "write the rule at " + name + ", which is replaced as a whole, and compare self with oldSelf there"
	}
	if _, of := items.Get("properties"); of != nil {
		keys := make([]string, len(of.Resolve().Keys))
		for i, key := range of.Resolve().Keys {
			keys[i] = key.Value
		}
		const words = "no key tells which old item is meant: write x-kubernetes-list-type: map and x-kubernetes-list-map-keys: at %s (its items have %s)"
		return fmt.Sprintf(words, name, strings.Join(keys[:min(len(keys), 5)], ", "))
	}
	const words = "only items of a list with x-kubernetes-list-type: map have an old value: write the rule at %s, such as oldSelf.all(x, x in self)"
	return fmt.Sprintf(words, name)
}

func (m *mistake) fieldPath() string {
	n := m.node()
	schema := m.Excerpts.Doc.Value(m.path[:max(0, strings.LastIndex(m.path, ".x-kubernetes-validations"))])
	if n == nil || schema == nil || len(n.Value) > table.MaxText {
		return ""
	}
	text, key, isItem := strings.Cut(n.Value, "[")
	steps := strings.Split(strings.TrimPrefix(strings.TrimLeft(text, "$."), "self."), ".")
	for ; len(steps) > 0; steps = steps[1:] {
		path, at := follow(schema, steps)
		switch _, of := at.Get("additionalProperties"); {
		case path == "":
		case isItem && of != nil:
			return fmt.Sprintf("write a key of a map in quotes: %s['%s']", path, strings.Trim(key, `'"]`))
		case isItem:
			return "a fieldPath does not lead into a list: write " + path
		default:
			return "a fieldPath begins with a dot at the place of the rule: write " + path
		}
	}
	return "a fieldPath begins with a dot at the place of the rule, and names fields of the schema"
}

// follow returns the path and the schema of a field below a schema, or "" and the schema itself if there is no
// such field. It corrects misspelled names.
func follow(schema *position.Node, names []string) (path string, at *position.Node) {
	at = schema
	for _, name := range names {
		_, properties := at.Get("properties")
		if properties == nil {
			return "", schema
		}
		var known []string
		for _, key := range properties.Resolve().Keys {
			known = append(known, key.Value)
		}
		if !slices.Contains(known, name) {
			name = spell.Nearest(name, known)
		}
		if _, at = properties.Get(name); at == nil {
			return "", schema
		}
		path += "." + name
	}
	return path, at
}

// Strict returns the locations of the keys that strict decoding rejects, with hints.
func Strict(strict []engine.StrictError, excerpts *excerpt.Excerpts) []finding.Location {
	locations := excerpt.Strict(excerpts.Doc, strict, excerpts)
	for i := range locations {
		locations[i].Hint = Key(locations[i].Field)
	}
	return locations
}

// Key returns what to write instead of an unknown key of a CRD, or of the metadata of an object, at a path. It returns "" if
// that is unknown.
func Key(path string) string {
	if words := Invisible(path); words != "" {
		return words
	}
	near := vet.NearestKey(path)
	if near != "" {
		near = "did you mean " + near + "?"
	}
	return cmp.Or(table.Key("key", lastStep(path)), near)
}

func lastStep(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// Invisible returns a hint if key has a character that is not ASCII and looks like a space or is usually not shown, and
// "" otherwise.
func Invisible(key string) string {
	for _, c := range key {
		if c > unicode.MaxASCII && (unicode.IsSpace(c) || unicode.Is(unicode.Cf, c)) {
			return fmt.Sprintf("the key contains the character %U, which editors show as a space or not at all: remove it, and indent with spaces", c)
		}
	}
	return ""
}

// Mistyped returns the locations, with hints, of the values that keep a server from decoding an object.
func Mistyped(excerpts *excerpt.Excerpts) []finding.Location {
	return locate(excerpts, vet.FindMistyped(excerpts.Doc.Object))
}

// MistypedAs is Mistyped for an object of a Go type.
func MistypedAs(excerpts *excerpt.Excerpts, t reflect.Type) []finding.Location {
	return locate(excerpts, vet.FindMistypedAs(excerpts.Doc.Object, t))
}

func locate(excerpts *excerpt.Excerpts, mistyped []vet.Mistyped) (locations []finding.Location) {
	doc := excerpts.Doc
	if doc.Original != nil {
		return nil
	}
	for _, bad := range mistyped {
		at, n := doc.Locate([]string{bad.Path})[0], doc.Value(bad.Path)
		if at.Line == 0 || n == nil {
			continue
		}
		location := finding.Location{File: doc.File, Line: at.Line, Column: at.Column, Field: bad.Path, Message: "want " + bad.Want, Excerpt: excerpts.At(at)}
		m := mistake{Subject: &Subject{Excerpts: excerpts}, path: bad.Path}
		shown := n.Kind == position.Scalar && strings.Contains(location.Excerpt.Line, n.Value)
		switch location.Hint = m.placeholder(); {
		case location.Hint != "":
		case strings.HasSuffix(bad.Path, ".type") && n.Kind == position.Sequence:
			location.Hint = `a schema has one type: write it without [ ], and in place of "null" nullable: true`
		case strings.HasSuffix(bad.Path, ".required") && (n.Value == "true" || n.Value == "false"):
			location.Hint = "required is the list of the fields that an object must have: write the name there, one level above"
		case n.Kind == position.Scalar && strings.HasPrefix(lastStep(bad.Path), "x-kubernetes-validations["):
			location.Hint = "a rule is a map: write rule: before the expression"
		case n.Kind == position.Scalar && strings.HasPrefix(lastStep(bad.Path), "validations["):
			location.Hint = "a validation is a map: write expression: before the expression"
		case bad.Want == "date-time" && shown:
			location.Hint = date(n.Value)
		default:
			location.Hint = typed(bad.Want, n, shown)
		}
		locations = append(locations, location)
	}
	return locations
}
