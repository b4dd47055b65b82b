package celvalue

import (
	"fmt"
	"time"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"k8s.io/kube-openapi/pkg/validation/strfmt"

	"github.com/celadon-cel/celadon/types"
)

// New returns a decoded JSON value as the CEL value that its declaration defines. It does not
// copy v, so v must not change while the result is in use. If v does not match the declaration,
// New returns a CEL error with the API server's message. Evaluation fails only if it needs this
// value.
func New(v any, d *types.Decl) ref.Val {
	if v == nil {
		if d.Nullable {
			return celtypes.NullValue
		}
		return celtypes.NewErr("invalid data, got null for schema with nullable=false")
	}
	switch d.Form() {
	case types.FormScalar:
		return scalar(v, d)
	case types.FormObject, types.FormMap, types.FormEmpty:
		m, ok := v.(map[string]any)
		if !ok {
			return errNotMap()
		}
		return &mapValue{fields: m, decl: d}
	case types.FormList:
		return listOf(v, d)
	case types.FormUnknown:
		return &unknown{v}
	}
	return invalid(v, d)
}

func listOf(v any, d *types.Decl) ref.Val {
	items, ok := v.([]any)
	if !ok {
		return errNotArray()
	}
	list := listValue{items: items, elem: d.Elem}
	switch d.ListType {
	case types.Set:
		return &setValue{listValue: list}
	case types.MapList:
		return &mapListValue{listValue: list, keys: escapedKeys(d.MapKeys)}
	}
	if t := d.Schema.XListType; t != nil && *t != "atomic" && *t != "" {
		return celtypes.NewErr("invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got %s", *t)
	}
	return &list
}

func errNotMap() ref.Val {
	return celtypes.NewErr("invalid data, expected a map for the provided schema with type=object")
}

func errNotArray() ref.Val {
	return celtypes.NewErr("invalid data, expected an array for the provided schema with type=array")
}

func invalid(v any, d *types.Decl) ref.Val {
	if d.Schema.Type == "object" {
		if _, ok := v.(map[string]any); !ok {
			return errNotMap()
		}
		return celtypes.NewErr("invalid object type, expected either Properties or AdditionalProperties with Allows=true and non-empty Schema")
	}
	if d.Schema.Type != "array" {
		return celtypes.NewErr("invalid type, expected object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got %s", d.Schema.Type)
	}
	if _, ok := v.([]any); !ok {
		return errNotArray()
	}
	return celtypes.NewErr("invalid array type, expected Items with a non-empty Schema")
}

func scalar(v any, d *types.Decl) ref.Val {
	switch d.Kind {
	case types.IntOrString:
		switch v := v.(type) {
		case string:
			return celtypes.String(v)
		case int64:
			return celtypes.Int(v)
		}
		return celtypes.NewErr("invalid data, expected XIntOrString value to be either a string or integer")
	case types.Bool:
		if b, ok := v.(bool); ok {
			return celtypes.Bool(b)
		}
		return mismatch("bool", v)
	case types.Int:
		if i, ok := v.(int64); ok {
			return celtypes.Int(i)
		}
		return mismatch("int", v)
	case types.Double:
		switch v := v.(type) {
		case int64: // YAML decoding turns whole floats into integers
			return celtypes.Double(v)
		case float64:
			return celtypes.Double(v)
		}
		return mismatch("float", v)
	}
	s, ok := v.(string)
	if !ok {
		return mismatch("string", v)
	}
	return formatted(s, d.Kind)
}

func mismatch(want string, got any) ref.Val {
	return celtypes.NewErr("invalid data, expected %s, got %T", want, got)
}

func formatted(s string, k types.Kind) ref.Val {
	switch k {
	case types.Duration:
		d, err := strfmt.ParseDuration(s)
		if err != nil {
			return celtypes.NewErr("Invalid duration %s: %v", s, err)
		}
		return celtypes.Duration{Duration: d}
	case types.Date:
		t, err := time.Parse(strfmt.RFC3339FullDate, s)
		if err != nil {
			return celtypes.NewErr("Invalid date formatted string %s: %v", s, err)
		}
		return celtypes.Timestamp{Time: t}
	case types.Timestamp:
		t, err := strfmt.ParseDateTime(s)
		if err != nil {
			return celtypes.NewErr("Invalid date-time formatted string %s: %v", s, err)
		}
		return celtypes.Timestamp{Time: time.Time(t)}
	case types.Bytes:
		var b strfmt.Base64
		if err := b.UnmarshalText([]byte(s)); err != nil {
			return celtypes.NewErr("Invalid byte formatted string %s: %v", s, err)
		}
		return celtypes.Bytes(b)
	}
	return celtypes.String(s)
}

// escapedKeys returns a map list's keys as CEL identifiers. As in upstream, these names are also
// used to look up keys in the JSON. Therefore a key that contains a dash is never found and does
// not distinguish items.
func escapedKeys(names []string) []string {
	keys := make([]string, len(names))
	for i, name := range names {
		keys[i] = name
		if ident, ok := types.Escape(name); ok {
			keys[i] = ident
		}
	}
	return keys
}

// compositeKey returns one comparable value for the values of several keys. More than three are
// printed in the given format.
func compositeKey(keys []string, format string, get func(key string) any) any {
	switch len(keys) {
	case 1:
		return get(keys[0])
	case 2:
		return [2]any{get(keys[0]), get(keys[1])}
	case 3:
		return [3]any{get(keys[0]), get(keys[1]), get(keys[2])}
	}
	all := make([]any, len(keys))
	for i, key := range keys {
		all[i] = get(key)
	}
	return fmt.Sprintf(format, all)
}
