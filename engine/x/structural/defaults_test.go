package structural

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestDefaultsUpstream(t *testing.T) {
	t.Parallel()
	schemas, pruned := 5000, 0
	if testing.Short() {
		schemas = 500
	}
	for seed := range schemas {
		r := random{rand.New(rand.NewPCG(uint64(seed), 7))}
		source := r.schema(4, seed%50 == 0)
		got, want := source.DeepCopy(), source.DeepCopy()
		gotErr, wantErr := PruneDefaults(got), defaulting.PruneDefaults(want)
		if (gotErr == nil) != (wantErr == nil) || gotErr != nil && gotErr.Error() != wantErr.Error() {
			t.Fatalf("seed %d: got error %v, want %v", seed, gotErr, wantErr)
		}
		if gotErr != nil {
			continue
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("seed %d: pruned defaults (-want +got):\n%s", seed, d)
		}
		if !cmp.Equal(source, got) {
			pruned++
		}
		v := r.value(4)
		gotValue, wantValue := runtime.DeepCopyJSONValue(v), runtime.DeepCopyJSONValue(v)
		Default(gotValue, got)
		defaulting.Default(wantValue, want)
		if d := cmp.Diff(wantValue, gotValue); d != "" {
			t.Fatalf("seed %d: filled defaults (-want +got):\n%s", seed, d)
		}
	}
	if pruned < schemas/10 {
		t.Errorf("pruning changed %d of %d schemas: the test is too weak", pruned, schemas)
	}
}

type random struct{ *rand.Rand }

func (r random) one(n int) bool { return r.IntN(n) == 0 }

// names are the properties of random objects. Those of metadata have types of their own.
var names = []string{"apiVersion", "kind", "metadata", "name", "labels", "creationTimestamp", "a", "b"}

func (r random) name() string { return names[r.IntN(len(names))] }

// schema returns a random schema. A root is a list if list is set, and otherwise an object.
func (r random) schema(depth int, list bool) *schema.Structural {
	s := &schema.Structural{}
	s.Nullable, s.XPreserveUnknownFields = r.one(4), r.one(6)
	switch {
	case list || depth < 4 && r.one(4):
		s.Type = "array"
		if depth > 0 && !r.one(8) {
			s.Items = r.schema(depth-1, false)
		}
	case depth == 0 || depth < 4 && r.one(4):
		s.Type = "string"
	default:
		s.Type, s.XEmbeddedResource = "object", r.one(3)
		r.fields(s, depth)
	}
	if r.one(3) {
		s.Default.Object = r.value(3)
	}
	return s
}

func (r random) fields(s *schema.Structural, depth int) {
	if r.one(4) {
		s.AdditionalProperties = &schema.StructuralOrBool{Bool: true}
		if !r.one(4) {
			s.AdditionalProperties.Structural = r.schema(depth-1, false)
		}
		return
	}
	s.Properties = map[string]schema.Structural{}
	for range r.IntN(5) {
		s.Properties[r.name()] = *r.schema(depth-1, false)
	}
}

func (r random) value(depth int) any {
	if depth > 0 && r.one(3) {
		items := make([]any, r.IntN(3))
		for i := range items {
			items[i] = r.value(depth - 1)
		}
		return items
	}
	if depth > 0 && r.one(2) {
		fields := map[string]any{}
		for range r.IntN(4) {
			fields[r.name()] = r.value(depth - 1)
		}
		return fields
	}
	return []any{nil, "text", "2024-01-01T00:00:00Z", int64(1), 1.5, true}[r.IntN(6)]
}
