package types_test

import (
	"reflect"
	"testing"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/testing/newest"
	"github.com/celadon-cel/celadon/internal/testing/schemas"
	"github.com/celadon-cel/celadon/types"
)

// reserved holds the keywords and reserved words of CEL.
var reserved = []string{
	"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
	"let", "loop", "package", "namespace", "return", "var", "void", "while",
}

func TestFieldNames(t *testing.T) {
	t.Parallel()
	newest.Skip(t)
	type field struct {
		ident    string
		visible  bool
		required bool
	}
	tests := []struct {
		name, schema string
		root         bool
		want         map[string]field
	}{
		{
			name:   "escaped",
			schema: `{type: object, required: [a.b, nine9], properties: {a.b: {type: string}, a-b: {type: string}, a/b: {type: string}, a__b: {type: string}, nine9: {type: string}, namespace: {type: string}, _x: {type: string}, a_b: {type: string}}}`,
			want: map[string]field{
				"a.b": {"a__dot__b", true, true}, "a-b": {"a__dash__b", true, false}, "a/b": {"a__slash__b", true, false},
				"a__b": {"a__underscores__b", true, false}, "nine9": {"nine9", true, true},
				"namespace": {"__namespace__", true, false}, "_x": {"_x", true, false}, "a_b": {"a_b", true, false},
			},
		},
		{
			name:   "without identifier",
			schema: `{type: object, properties: {9a: {type: string}, "a b": {type: string}, "ä": {type: string}, "": {type: string}, "a$": {type: string}, "a[0]": {type: string}}}`,
			want:   map[string]field{"9a": {}, "a b": {}, "ä": {}, "": {}, "a$": {}, "a[0]": {}},
		},
		{
			name:   "hidden",
			schema: `{type: object, required: [a], properties: {a: {x-kubernetes-preserve-unknown-fields: true}, b: {type: array}, c: {type: array, items: {type: array, items: {x-kubernetes-preserve-unknown-fields: true}}}, d: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`,
			want:   map[string]field{"a": {"a", false, true}, "b": {"b", false, false}, "c": {"c", false, false}, "d": {"d", true, false}},
		},
		{
			name: "root", root: true,
			schema: `{type: object, required: [kind], properties: {spec: {type: string}, metadata: {type: object, properties: {labels: {type: string}, name: {type: string, maxLength: 5}}}}}`,
			want:   map[string]field{"spec": {"spec", true, false}, "apiVersion": {"apiVersion", true, false}, "kind": {"kind", true, true}, "metadata": {"metadata", true, false}},
		},
		{name: "subtree", schema: `{type: object, properties: {spec: {type: string}}}`, want: map[string]field{"spec": {"spec", true, false}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := schemas.Structural(t, tt.schema)
			d := types.FromSchema(s, placeOf(tt.root))
			got := map[string]field{}
			for _, name := range d.FieldNames() {
				f := d.Fields[name]
				if f.Name != name {
					t.Errorf("field %q is named %q", name, f.Name)
				}
				got[name] = field{f.Escaped, f.Visible(), f.Required}
				found, ok := d.ByIdent(f.Escaped)
				if ok != f.Visible() || ok && found != f {
					t.Errorf("ByIdent(%q): got %v %t, want found %t", f.Escaped, found, ok, f.Visible())
				}
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v\nwant %v", got, tt.want)
			}
			for _, diff := range diffTypes("self", celenv.DeclType(d, "selfType"), upstreamType(s, tt.root)) {
				t.Error(diff)
			}
		})
	}
}

func TestByIdentOther(t *testing.T) {
	t.Parallel()
	d := types.FromSchema(schemas.Structural(t, `{type: object, properties: {a.b: {type: string}, namespace: {type: string}, a__b: {type: string}}}`), types.Subtree)
	for _, ident := range []string{"", "b", "a.b", "namespace", "a__b", "a__nothing__b", "a__dot__b__dot__c"} {
		if f, ok := d.ByIdent(ident); ok {
			t.Errorf("ByIdent(%q): got %v, want nothing", ident, f)
		}
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	newest.Skip(t)
	tests := []struct {
		name, schema       string
		root               bool
		at                 []string
		fields             []string
		nameMax, prefixMax int64
	}{
		{name: "nothing declared", schema: `{type: object}`, root: true, at: []string{"metadata"},
			fields: []string{"generateName", "name"}, nameMax: 253 * 4, prefixMax: 252 * 4},
		{name: "labels declared", schema: `{type: object, properties: {metadata: {type: object, properties: {labels: {type: object, additionalProperties: {type: string}}, name: {type: string, maxLength: 63}}}}}`,
			root: true, at: []string{"metadata"}, fields: []string{"generateName", "name"}, nameMax: 63 * 4, prefixMax: 252 * 4},
		{name: "longer name", schema: `{type: object, properties: {metadata: {type: object, properties: {name: {type: string, maxLength: 300}, generateName: {type: string, maxLength: 4}}}}}`,
			root: true, at: []string{"metadata"}, fields: []string{"generateName", "name"}, nameMax: 253 * 4, prefixMax: 16},
		{name: "all declared", schema: `{type: object, properties: {kind: {type: string}, apiVersion: {type: string}, metadata: {type: object, properties: {name: {type: string}, generateName: {type: string}, labels: {type: string}}}}}`,
			root: true, at: []string{"metadata"}, fields: []string{"generateName", "labels", "name"}, nameMax: anyText, prefixMax: anyText},
		{name: "embedded field", schema: `{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true}}}`,
			at: []string{"e", "metadata"}, fields: []string{"generateName", "name"}, nameMax: 253 * 4, prefixMax: 252 * 4},
		{name: "subtree", schema: `{type: object, properties: {metadata: {type: object, properties: {labels: {type: string}}}}}`,
			at: []string{"metadata"}, fields: []string{"labels"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := schemas.Structural(t, tt.schema)
			d := types.FromSchema(s, placeOf(tt.root))
			for _, diff := range diffTypes("self", celenv.DeclType(d, "selfType"), upstreamType(s, tt.root)) {
				t.Error(diff)
			}
			for _, name := range tt.at {
				d = d.Fields[name].Decl
			}
			if !reflect.DeepEqual(d.FieldNames(), tt.fields) {
				t.Fatalf("fields: got %v, want %v", d.FieldNames(), tt.fields)
			}
			if f := d.Fields["name"]; f != nil && f.Decl.Max.Max != tt.nameMax {
				t.Errorf("name: got %d bytes at most, want %d", f.Decl.Max.Max, tt.nameMax)
			}
			if f := d.Fields["generateName"]; f != nil && f.Decl.Max.Max != tt.prefixMax {
				t.Errorf("generateName: got %d bytes at most, want %d", f.Decl.Max.Max, tt.prefixMax)
			}
		})
	}
}

func TestEmbeddedPlaces(t *testing.T) {
	t.Parallel()
	newest.Skip(t)
	const embedded = `{type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: string}}}`
	for name, text := range map[string]string{
		"item":   `{type: array, items: ` + embedded + `}`,
		"value":  `{type: object, additionalProperties: ` + embedded + `}`,
		"nested": `{type: array, items: {type: object, x-kubernetes-embedded-resource: true, properties: {e: ` + embedded + `}}}`,
	} {
		s := schemas.Structural(t, text)
		d := types.FromSchema(s, types.Subtree)
		if !d.Elem.Root || d.Elem.Fields["metadata"] == nil {
			t.Errorf("%s: no metadata in %v", name, d.Elem.FieldNames())
		}
		for _, diff := range diffTypes("self", celenv.DeclType(d, "selfType"), upstreamType(s, false)) {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestListTypes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]types.ListType{
		`{type: array, items: {type: string}}`:                                 types.Atomic,
		`{type: array, x-kubernetes-list-type: atomic, items: {type: string}}`: types.Atomic,
		`{type: array, x-kubernetes-list-type: set, items: {type: string}}`:    types.Set,
		`{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b], items: {type: object, properties: {a: {type: string}, b: {type: string}}}}`: types.MapList,
	} {
		d := types.FromSchema(schemas.Structural(t, text), types.Subtree)
		if d.ListType != want {
			t.Errorf("%s: got %v, want %v", text, d.ListType, want)
		}
		if want == types.MapList && !reflect.DeepEqual(d.MapKeys, []string{"a", "b"}) {
			t.Errorf("%s: keys: got %v", text, d.MapKeys)
		}
	}
}

func TestBoundSource(t *testing.T) {
	t.Parallel()
	for source, want := range map[types.BoundSource]string{
		types.NoBound: "none", types.Declared: "declared", types.Enumerated: "enum",
		types.Formatted: "format", types.Assumed: "3 MiB request", 99: "none",
	} {
		if got := source.String(); got != want {
			t.Errorf("%d: got %q, want %q", source, got, want)
		}
	}
}
