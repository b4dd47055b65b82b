package engine

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiserver/pkg/cel/common"
)

func TestOldListUpstream(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 9))
	values := []any{"a", "b", `"`, "", int64(1), int64(2), 1.0, 1.0000001, 1.00000012, math.Inf(1), true, false, nil, []any{"a"}, map[string]any{}}
	item := func() any {
		if r.IntN(20) == 0 {
			return "not an object"
		}
		fields := map[string]any{"n": int64(r.IntN(1000))}
		for _, name := range []string{"x", "y"} {
			if r.IntN(10) > 0 {
				fields[name] = values[r.IntN(len(values))]
			}
		}
		return fields
	}
	mapList, set := "map", "set"
	found := 0
	for range 20000 {
		s := &schema.Structural{Generic: schema.Generic{Type: "array"}}
		s.XListType, s.XListMapKeys = &mapList, [][]string{{"x"}, {"x", "y"}, {"y"}, nil}[r.IntN(4)]
		if r.IntN(20) == 0 {
			s.XListType = &set
		}
		items := make([]any, r.IntN(6))
		for i := range items {
			items[i] = item()
		}
		got, want := newOldList(s, items), common.MakeMapList(&model.Structural{Structural: s}, items)
		for range 4 {
			it := item()
			a, b := got.Get(it), want.Get(it)
			if !reflect.DeepEqual(a, b) {
				t.Fatalf("keys %v, items %v: item %v: got %v, want %v", s.XListMapKeys, items, it, a, b)
			}
			if a != nil {
				found++
			}
		}
	}
	if found < 1000 {
		t.Errorf("found %d items: the test is too weak", found)
	}
}
