package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

func TestCorpus(t *testing.T) {
	folders := corpus.Folders(t)
	mutants := 1
	if level.Long() {
		mutants = 4
	}
	random := rand.New(rand.NewPCG(5, 6))
	cases, objects, compared := 0, 0, 0
	for _, folder := range folders {
		subjects := map[string]*subject{}
		for c := range corpus.Cases(t, folder) {
			cases++
			s := corpusSubject(t, subjects, folder, c)
			if s == nil {
				continue
			}
			before := *s.compared
			objects += compareCase(t, s, c, random, mutants)
			compared += *s.compared - before
		}
		objects += compareSamples(t, folder, random)
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
	t.Logf("%d cases, %d objects, %d comparisons", cases, objects, compared)
}

func compareCase(t *testing.T, s *subject, c corpus.Case, random *rand.Rand, mutants int) (objects int) {
	name := c.CRD + " " + c.Version
	one := func(obj, old map[string]any) {
		objects++
		var was any
		if old != nil {
			was = old
		}
		check(t, s, name, obj, was)
		prepared, _ := s.ours.prepare(obj, Preparation{Prune: true, Default: true})
		check(t, s, name, prepared, was)
	}
	one(c.Object, c.OldObject)
	if c.OldObject != nil {
		one(c.OldObject, c.Object)
	}
	for range mutants {
		obj := runtime.DeepCopyJSON(c.Object)
		for range 1 + random.IntN(3) {
			mutate(obj, random)
		}
		one(obj, c.Object)
		old := runtime.DeepCopyJSON(obj)
		mutate(old, random)
		one(obj, old)
	}
	return objects
}

func mutate(obj map[string]any, random *rand.Rand) {
	var at any = obj
	for {
		switch v := at.(type) {
		case map[string]any:
			names := slices.Sorted(maps.Keys(v))
			if len(names) == 0 {
				v["extra"] = "field"
				return
			}
			name := names[random.IntN(len(names))]
			if isParent(v[name]) && random.IntN(4) > 0 {
				at = v[name]
				continue
			}
			mutateField(v, name, random)
		case []any:
			i := random.IntN(len(v))
			if isParent(v[i]) && random.IntN(4) > 0 {
				at = v[i]
				continue
			}
			v[i] = mutant(v[i], v, random)
		}
		return
	}
}

func isParent(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return true
	case []any:
		return len(v) > 0
	}
	return false
}

func mutateField(obj map[string]any, name string, random *rand.Rand) {
	switch random.IntN(4) {
	case 0:
		delete(obj, name)
	case 1:
		obj["extra"] = map[string]any{"field": int64(1)}
	default:
		obj[name] = mutant(obj[name], []any{obj[name]}, random)
	}
}

func mutant(v any, siblings []any, random *rand.Rand) any {
	switch random.IntN(7) {
	case 0:
		return nil
	case 1:
		return strings.Repeat("long", 100)
	case 2:
		return runtime.DeepCopyJSONValue(siblings[0])
	case 3:
		if items, ok := v.([]any); ok && len(items) > 0 {
			return append(slices.Clone(items), runtime.DeepCopyJSONValue(items[0]))
		}
		return []any{v, v}
	case 4:
		return int64(random.IntN(1000)) - 10
	case 5:
		return 1.5
	}
	return map[string]any{}
}

// Some CRDs have no cases.
func compareSamples(t *testing.T, folder string, random *rand.Rand) (objects int) {
	err := filepath.WalkDir(filepath.Join(folder, "crds"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		crd := corpus.ReadCRD(t, path)
		for _, v := range crd.Spec.Versions {
			props := v.Schema.OpenAPIV3Schema
			s, err := newSubject(props)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			in := &source{make([]byte, 4000)}
			for i := range in.data {
				in.data[i] = byte(random.Uint32())
			}
			obj := in.value(props, 8)
			objects++
			check(t, s, path, obj, in.old(obj))
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	return objects
}

// corpusSubject returns nil if the CRD of the case does not have the version.
func corpusSubject(t testing.TB, known map[string]*subject, folder string, c corpus.Case) *subject {
	t.Helper()
	key := c.CRD + " " + c.Version
	if s, ok := known[key]; ok {
		return s
	}
	known[key] = nil
	for _, v := range corpus.ReadCRD(t, filepath.Join(folder, c.CRD)).Spec.Versions {
		if v.Name != c.Version || v.Schema == nil {
			continue
		}
		s, err := newSubject(v.Schema.OpenAPIV3Schema)
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		known[key] = s
	}
	return known[key]
}
