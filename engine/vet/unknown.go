package vet

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
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
// types_jsonschema.go, by the type that has them.
var newFields = map[string]newField{
	"CustomResourceDefinitionVersion":   {"selectableFields", selectableKnown},
	"CustomResourceDefinitionSpec":      {"selectableFields", selectableKnown}, // of v1beta1
	"ValidationRule":                    {optionalOldSelf, optionalKnown},
	"CustomResourceDefinitionStatus":    {"observedGeneration", minors.Since(35)},
	"CustomResourceDefinitionCondition": {"observedGeneration", minors.Since(35)},
}

var (
	// optionalKnown servers decode optionalOldSelf.
	optionalKnown = minors.Since(29)
	// selectableKnown servers decode selectableFields.
	selectableKnown = minors.Since(30)
)

// unknownMark follows the name of a field that the server does not know.
const unknownMark = "\u0394unknown"

// markUnknown marks the fields in a CRD that servers of version v do not know. It returns raw itself if it marks
// nothing.
func markUnknown(raw []byte, v types.Version) []byte {
	m := marker{newer: maps.Clone(newFields), fields: fieldTable{}, decoder: json.NewDecoder(bytes.NewReader(raw))}
	maps.DeleteFunc(m.newer, func(_ string, f newField) bool {
		return f.known.Include(v.Minor) || !bytes.Contains(raw, []byte(f.name))
	})
	crd := reflect.TypeFor[v1beta1.CustomResourceDefinition]() // which has all fields of v1
	if len(m.newer) == 0 || m.value(crd) != nil {
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
	newer   map[string]newField
	fields  fieldTable
	decoder *json.Decoder
	ends    []int // the ends of the names in the input
}

func (m *marker) value(t reflect.Type) error {
	token, err := m.decoder.Token()
	opening, ok := token.(json.Delim)
	if err != nil || !ok {
		return err
	}
	for m.decoder.More() {
		name := ""
		if opening == '{' {
			key, err := m.decoder.Token()
			if err != nil {
				return err
			}
			name, _ = key.(string)
			if f, ok := m.newer[t.Name()]; ok && f.name == name {
				m.ends = append(m.ends, int(m.decoder.InputOffset())-1)
			}
		}
		if err := m.value(m.fields.part(t, name)); err != nil {
			return err
		}
	}
	_, err = m.decoder.Token()
	return err
}

func unmarked(errs []error) []error {
	for _, err := range errs {
		if of, ok := err.(kjson.FieldError); ok && strings.Contains(of.FieldPath(), unknownMark) {
			of.SetFieldPath(strings.ReplaceAll(of.FieldPath(), unknownMark, ""))
		}
	}
	return errs
}
