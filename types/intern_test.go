package types_test

import (
	"testing"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/testing/newest"
	"github.com/celadon-cel/celadon/internal/testing/schemas"
	"github.com/celadon-cel/celadon/types"
)

func TestInternerShares(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, a, b string
		same       bool
	}{
		{"equal", `{type: object, properties: {a: {type: string}}}`, `{type: object, properties: {a: {type: string}}}`, true},
		{"description", `{type: string, description: x}`, `{type: string, description: z}`, true},
		{"pattern", `{type: string, pattern: x}`, `{type: string}`, true},
		{"rules", `{type: string, x-kubernetes-validations: [{rule: "true"}]}`, `{type: string}`, true},
		{"length", `{type: string, maxLength: 3}`, `{type: string, maxLength: 4}`, false},
		{"source of the bound", `{type: string, maxLength: 1}`, `{type: string, enum: [abcd]}`, false},
		{"nullable", `{type: string}`, `{type: string, nullable: true}`, false},
		{"required", `{type: object, required: [a], properties: {a: {type: string, default: x}}}`, `{type: object, properties: {a: {type: string, default: x}}}`, false},
		{"default", `{type: object, required: [a], properties: {a: {type: string, default: x}}}`, `{type: object, required: [a], properties: {a: {type: string}}}`, false},
		{"format", `{type: string, format: date, maxLength: 1}`, `{type: string, format: date-time, maxLength: 1}`, false},
		{"list type", `{type: array, items: {type: string}}`, `{type: array, x-kubernetes-list-type: set, items: {type: string}}`, false},
		{"atomic", `{type: array, items: {type: string}}`, `{type: array, x-kubernetes-list-type: atomic, items: {type: string}}`, false},
		{"keys", `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: {type: object}}`, `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b], items: {type: object}}`, false},
		{"map type", `{type: object, x-kubernetes-map-type: atomic}`, `{type: object, x-kubernetes-map-type: granular}`, false},
		{"names", `{type: object, properties: {a: {type: string}, b: {type: integer}}}`, `{type: object, properties: {a: {type: integer}, b: {type: string}}}`, false},
		{"no properties", `{type: object, properties: {}}`, `{type: object}`, true},
		{"unknown", `{x-kubernetes-preserve-unknown-fields: true}`, `{}`, false},
		{"below", `{type: array, items: {type: object, properties: {a: {type: string}}}}`, `{type: array, items: {type: object, properties: {b: {type: string}}}}`, false},
	}
	for _, tt := range tests {
		in := types.NewInterner()
		a := in.FromSchema(schemas.Structural(t, tt.a), types.Subtree)
		if b := in.FromSchema(schemas.Structural(t, tt.b), types.Subtree); (a == b) != tt.same {
			t.Errorf("%s: shared %t, want %t", tt.name, a == b, tt.same)
		}
	}
	in := types.NewInterner()
	s := schemas.Structural(t, `{type: object, properties: {a: {type: object, x-kubernetes-embedded-resource: true}}}`)
	if root := in.FromSchema(s, types.ResourceRoot); root == in.FromSchema(s, types.Subtree) {
		t.Error("a root and a subtree are one")
	}
	if in.FromSchema(nil, types.Subtree) != nil {
		t.Error("nothing is something")
	}
}

func TestInternerDeclares(t *testing.T) {
	t.Parallel()
	newest.Skip(t)
	in := types.NewInterner()
	for _, text := range []string{schemas.Objects, schemas.Lists, schemas.Objects} {
		s := schemas.Structural(t, text)
		for _, root := range []bool{true, false} {
			for _, diff := range diffTypes("self", celenv.DeclType(in.FromSchema(s, placeOf(root)), "selfType"), upstreamType(s, root)) {
				t.Error(diff)
			}
		}
	}
}
