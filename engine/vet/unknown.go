package vet

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/internal/minors"
	"github.com/celadon-cel/celadon/types"
)

// How it works: the linked decoder knows all fields. For a server that does not know a field, a mark
// is added to the field's name before the CRD is decoded and removed from the errors afterwards.

// A newField is a field that some servers do not know. path is the path of its parent, in which *
// is an item of a list, and ** any number of steps in a schema.
type newField struct {
	path, name string
	known      minors.Range
}

// newFields are the new fields of apiextensions-apiserver, pkg/apis/apiextensions/v1/types.go and
// types_jsonschema.go.
var newFields = []newField{
	{path: "spec.versions.*", name: "selectableFields", known: selectableKnown},
	{path: "spec", name: "selectableFields", known: selectableKnown}, // of v1beta1
	{path: "spec.versions.*.schema.openAPIV3Schema.**.x-kubernetes-validations.*", name: optionalOldSelf, known: optionalKnown},
	{path: "spec.validation.openAPIV3Schema.**.x-kubernetes-validations.*", name: optionalOldSelf, known: optionalKnown}, // of v1beta1
	{path: "status", name: "observedGeneration", known: minors.Since(35)},
	{path: "status.conditions.*", name: "observedGeneration", known: minors.Since(35)},
}

var (
	// optionalKnown servers decode optionalOldSelf.
	optionalKnown = minors.Since(29)
	// selectableKnown servers decode selectableFields.
	selectableKnown = minors.Since(30)
)

// unknownMark follows the name of a field that the server does not know.
const unknownMark = "\u0394unknown"

// markUnknown marks the fields in a CRD that servers of version v do not know. It returns raw itself
// if there are none.
func markUnknown(raw []byte, v types.Version) []byte {
	var fields []newField
	for _, f := range newFields {
		if !f.known.Include(v.Minor) && bytes.Contains(raw, []byte(f.name)) {
			fields = append(fields, f)
		}
	}
	if len(fields) == 0 {
		return raw
	}
	m := marker{fields: fields, decoder: json.NewDecoder(bytes.NewReader(raw))}
	if m.value(nil) != nil || len(m.ends) == 0 {
		return raw
	}
	var out []byte
	from := 0
	for _, end := range m.ends {
		out = append(append(out, raw[from:end]...), unknownMark...)
		from = end
	}
	return append(out, raw[from:]...)
}

type marker struct {
	fields  []newField
	decoder *json.Decoder
	ends    []int // the ends of the names
}

func (m *marker) value(path []string) error {
	token, err := m.decoder.Token()
	if err != nil {
		return err
	}
	opening, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	path = append(path, "*")
	last := len(path) - 1
	for m.decoder.More() {
		if opening == '{' {
			key, err := m.decoder.Token()
			if err != nil {
				return err
			}
			path[last], _ = key.(string)
			if m.unknown(path[:last], path[last]) {
				m.ends = append(m.ends, int(m.decoder.InputOffset())-1)
			}
		}
		if err := m.value(path); err != nil {
			return err
		}
	}
	_, err = m.decoder.Token()
	return err
}

func (m *marker) unknown(path []string, name string) bool {
	return slices.ContainsFunc(m.fields, func(f newField) bool { return f.name == name && f.at(path) })
}

// at reports whether path matches the path of the field's parent.
func (f newField) at(path []string) bool {
	before, after, deep := strings.Cut(f.path, ".**.")
	head := strings.Split(before, ".")
	if !deep {
		return slices.Equal(head, path)
	}
	tail := strings.Split(after, ".")
	between := len(path) - len(head) - len(tail)
	return between >= 0 && slices.Equal(head, path[:len(head)]) && slices.Equal(tail, path[len(path)-len(tail):]) &&
		inSchema(path[len(head):len(head)+between])
}

func inSchema(steps []string) bool {
	for len(steps) > 0 {
		switch steps[0] {
		case "items":
			if steps = steps[1:]; len(steps) > 0 && steps[0] == "*" {
				steps = steps[1:]
			}
		case "additionalProperties", "additionalItems", "not":
			steps = steps[1:]
		case "properties", "patternProperties", "definitions", "dependencies", "allOf", "anyOf", "oneOf":
			if len(steps) < 2 {
				return false
			}
			steps = steps[2:]
		default:
			return false
		}
	}
	return true
}

// unmarked removes the marks from the decoder's errors.
func unmarked(errs []error) []error {
	for _, err := range errs {
		if of, ok := err.(kjson.FieldError); ok && strings.Contains(of.FieldPath(), unknownMark) {
			of.SetFieldPath(strings.ReplaceAll(of.FieldPath(), unknownMark, ""))
		}
	}
	return errs
}
