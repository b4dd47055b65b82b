package vet

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/internal/minors"
	"github.com/celadon-cel/celadon/types"
)

// How it works: the linked decoder knows all fields. For a server that does not know a field, a mark
// is added to the field's name before the CRD is decoded and removed from the errors afterwards.

type newField struct {
	name  string
	known minors.Range
}

// newFields are the new fields of apiextensions-apiserver, pkg/apis/apiextensions/v1/types.go and
// types_jsonschema.go, by the kind of the object that has them.
var newFields = map[string]newField{
	"version":   {"selectableFields", selectableKnown},
	"spec":      {"selectableFields", selectableKnown}, // of v1beta1
	"rule":      {optionalOldSelf, optionalKnown},
	"status":    {"observedGeneration", minors.Since(35)},
	"condition": {"observedGeneration", minors.Since(35)},
}

// parts holds the kinds of the values in a value of a CRD by their keys, * for the items of a list.
var parts = map[string]map[string]string{
	"CRD":        {"spec": "spec", "status": "status"},
	"spec":       {"versions": "versions", "validation": "validation"},
	"versions":   {"*": "version"},
	"version":    {"schema": "validation"},
	"validation": {"openAPIV3Schema": "schema"},
	"schema": {
		"items": "items", "additionalProperties": "schema", "additionalItems": "schema", "not": "schema", "properties": "schemas",
		"patternProperties": "schemas", "definitions": "schemas", "dependencies": "schemas", "allOf": "schemas", "anyOf": "schemas",
		"oneOf": "schemas", "x-kubernetes-validations": "rules",
	},
	"rules":      {"*": "rule"},
	"status":     {"conditions": "conditions"},
	"conditions": {"*": "condition"},
}

// partOf returns the kind of a part of a value, or "" for another part.
func partOf(kind, key string) string {
	switch {
	case kind == "schemas", kind == "items" && key == "*":
		return "schema"
	case kind == "items":
		kind = "schema"
	}
	return parts[kind][key]
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
	m := marker{fields: maps.Clone(newFields), decoder: json.NewDecoder(bytes.NewReader(raw))}
	maps.DeleteFunc(m.fields, func(_ string, f newField) bool {
		return f.known.Include(v.Minor) || !bytes.Contains(raw, []byte(f.name))
	})
	if len(m.fields) == 0 || m.value("CRD") != nil {
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
	fields  map[string]newField
	decoder *json.Decoder
	ends    []int // the ends of the names
}

// value looks for fields in the next value, which has the given kind.
func (m *marker) value(kind string) error {
	token, err := m.decoder.Token()
	if err != nil {
		return err
	}
	opening, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	for m.decoder.More() {
		name := "*"
		if opening == '{' {
			key, err := m.decoder.Token()
			if err != nil {
				return err
			}
			name, _ = key.(string)
			if f, ok := m.fields[kind]; ok && f.name == name {
				m.ends = append(m.ends, int(m.decoder.InputOffset())-1)
			}
		}
		if err := m.value(partOf(kind, name)); err != nil {
			return err
		}
	}
	_, err = m.decoder.Token()
	return err
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
