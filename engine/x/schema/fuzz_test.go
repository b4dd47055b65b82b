package schema

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
)

// A source makes schemas and values from bytes. After the last byte, it always takes the first choice, which is the
// simplest.
type source struct{ data []byte }

func (s *source) n(n int) int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return int(b) % n
}

func (s *source) often() bool  { return s.n(4) > 0 }
func (s *source) rarely() bool { return s.n(8) == 7 }

func pick[T any](s *source, from ...T) T { return from[s.n(len(from))] }

func (s *source) name() string {
	return pick(s, "x", "a", "y", "status", "kind", "apiVersion", "metadata", "", "IMPORTANT!", "x.a", ".")
}

func (s *source) scalar() any {
	return pick[any](s, "a", int64(1), "aaa", int64(2), true, 1.5, nil, "", "b", int64(-1), 2.0, "1.2.3.4", int64(65), "A", 1.0, false, int64(1<<40), 1e19, "2024-01-02T03:04:05Z", -0.5, "\xff", "\ufffd")
}

func (s *source) value(p *apiextensionsv1.JSONSchemaProps, depth int) any {
	if p == nil || depth == 0 || s.rarely() {
		p = &apiextensionsv1.JSONSchemaProps{Type: pick(s, "", "object", "array")}
	}
	if depth == 0 || s.rarely() {
		return s.scalar()
	}
	kind := p.Type
	if kind == "" && len(p.Properties) > 0 {
		kind = "object"
	}
	switch kind {
	case "object":
		return s.object(p, depth)
	case "array":
		items := []any{}
		var item *apiextensionsv1.JSONSchemaProps
		if p.Items != nil {
			item = p.Items.Schema
		}
		for range s.n(5) {
			items = append(items, s.value(item, depth-1))
			if s.n(4) == 3 {
				items = append(items, runtime.DeepCopyJSONValue(items[0]))
			}
		}
		return items
	}
	return s.scalar()
}

func (s *source) object(p *apiextensionsv1.JSONSchemaProps, depth int) map[string]any {
	obj := map[string]any{}
	names := slices.Sorted(maps.Keys(p.Properties))
	for range s.n(5) {
		names = append(names, s.name())
	}
	for _, name := range names {
		if s.rarely() {
			continue
		}
		var field *apiextensionsv1.JSONSchemaProps
		if p.AdditionalProperties != nil {
			field = p.AdditionalProperties.Schema
		}
		if prop, ok := p.Properties[name]; ok {
			field = &prop
		}
		obj[name] = s.value(field, depth-1)
	}
	return obj
}

func (s *source) old(v any) any {
	v = runtime.DeepCopyJSONValue(v)
	if s.n(3) == 2 {
		return s.scalar()
	}
	return s.changed(v)
}

func (s *source) changed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"x", "a", "status", "kind", "metadata"} {
			if old, ok := v[name]; ok && s.n(2) == 1 {
				v[name] = s.changed(old)
				return v
			}
		}
		if s.rarely() {
			v[s.name()] = s.scalar()
		}
		return v
	case []any:
		if len(v) > 1 && s.n(2) == 1 {
			v[0], v[1] = v[1], v[0]
		}
		if len(v) > 0 && s.n(2) == 1 {
			v[0] = s.changed(v[0])
		}
		return v
	}
	if s.rarely() {
		return s.scalar()
	}
	return v
}

func (s *source) schema(depth int) *apiextensionsv1.JSONSchemaProps {
	p := &apiextensionsv1.JSONSchemaProps{Type: pick(s, "object", "array", "string", "", "integer", "number", "boolean", "object", "array", "null")}
	if s.rarely() {
		p.XIntOrString = true
	}
	p.Nullable = s.rarely()
	if s.often() {
		s.checks(p)
	}
	if s.rarely() {
		v := s.value(p, 2)
		if raw, err := json.Marshal(v); err == nil && v != nil {
			p.Default = &apiextensionsv1.JSON{Raw: raw}
		}
	}
	if depth == 0 {
		return p
	}
	s.structure(p, depth-1)
	s.logic(p, depth-1)
	return p
}

// The checks may not fit the type.
func (s *source) checks(p *apiextensionsv1.JSONSchemaProps) {
	for range 1 + s.n(2) {
		limit, bound := int64(s.n(4)), pick(s, 1, 2, 1.5, 0, -1, 0.5, 1e300, 1<<53)
		switch s.n(15) {
		case 0:
			p.MaxLength = &limit
		case 1:
			p.MinLength = &limit
		case 2:
			p.Pattern = pick(s, "^a", "b$", "(", "^[0-9]+$")
		case 3:
			p.Format = pick(s, "ipv4", "date-time", "int32", "int64", "float", "double", "byte", "k8s-short-name", "no-such")
		case 4:
			p.Maximum, p.ExclusiveMaximum = &bound, s.n(2) == 1
		case 5:
			p.Minimum, p.ExclusiveMinimum = &bound, s.n(2) == 1
		case 6:
			p.MultipleOf = &bound
		case 7:
			p.MaxItems = &limit
		case 8:
			p.MinItems = &limit
		case 9:
			p.UniqueItems = true
		case 10:
			p.MaxProperties = &limit
		case 11:
			p.MinProperties = &limit
		case 12, 13:
			p.Required = append(p.Required, s.name())
		case 14:
			for range 1 + s.n(3) {
				if raw, err := json.Marshal(s.scalar()); err == nil {
					p.Enum = append(p.Enum, apiextensionsv1.JSON{Raw: raw})
				}
			}
		}
	}
}

func ptr[T any](v T) *T { return &v }

func (s *source) structure(p *apiextensionsv1.JSONSchemaProps, depth int) {
	if s.rarely() {
		p.XPreserveUnknownFields = ptr(true)
	}
	switch p.Type {
	case "object", "":
		p.XEmbeddedResource = s.rarely()
		for range s.n(4) {
			if p.Properties == nil {
				p.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
			}
			p.Properties[s.name()] = *s.schema(depth)
		}
		if len(p.Properties) == 0 || s.rarely() {
			p.AdditionalProperties = pick(s, nil, &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true}, &apiextensionsv1.JSONSchemaPropsOrBool{}, &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: s.schema(depth)})
		}
	case "array":
		if s.rarely() {
			return
		}
		item := s.schema(depth)
		p.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: item}
		switch s.n(4) {
		case 1:
			p.XListType = ptr("map")
			p.XListMapKeys = pick(s, []string{"x"}, []string{"x", "a"}, nil)
		case 2:
			p.XListType = ptr("set")
		case 3:
			p.XListType = ptr("atomic")
		}
	}
}

func (s *source) logic(p *apiextensionsv1.JSONSchemaProps, depth int) {
	switch s.n(8) {
	case 4:
		p.AnyOf = append(p.AnyOf, *s.schema(depth), *s.schema(depth))
	case 5:
		p.OneOf = append(p.OneOf, *s.schema(depth), *s.schema(depth))
	case 6:
		p.AllOf = append(p.AllOf, *s.schema(depth), *s.schema(depth))
	case 7:
		p.Not = s.schema(depth)
	}
}

func (s *source) resource() *apiextensionsv1.JSONSchemaProps {
	if s.rarely() {
		return s.schema(3)
	}
	p := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for _, name := range []string{"x", "a", "status"} {
		p.Properties[name] = *s.schema(2)
	}
	s.logic(p, 2)
	return p
}

func agree(t testing.TB, data []byte) (compared int) {
	in := &source{data}
	props := in.resource()
	s, err := newSubject(props)
	if err != nil {
		return 0
	}
	schema := encode(props)
	for range 3 {
		v := in.value(props, 4)
		check(t, s, schema, v, in.old(v))
	}
	return *s.compared
}

func FuzzSchema(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 64 {
		f.Add(bytesFrom(random))
	}
	f.Fuzz(func(t *testing.T, data []byte) { agree(t, data) })
}

func TestRandom(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	rounds, compared := 1_000, 0 // FuzzSchema continues from here
	if testing.Short() {
		rounds = 500
	}
	for range rounds {
		if compared += agree(t, bytesFrom(random)); t.Failed() {
			break
		}
	}
	t.Logf("%d comparisons", compared)
}

func bytesFrom(random *rand.Rand) []byte {
	data := make([]byte, 50+random.IntN(400))
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}
