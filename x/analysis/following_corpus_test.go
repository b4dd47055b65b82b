package analysis_test

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/x/analysis"
)

// TestFollowingOfCorpus checks that each cause that Result.Following announces is reported once a value of a wrong type
// is corrected.
func TestFollowingOfCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("samples objects of all CRDs")
	}
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	announced, broken := 0, 0
	for _, file := range corpus.CRDFiles(t) {
		definition := corpus.ReadCRD(t, file)
		e, err := engine.Compile(definition, engine.Config{})
		if err != nil {
			continue
		}
		version := definition.Spec.Versions[0].Name
		a, err := analysis.New(definition, e, version, analysis.Config{Steps: 50, Seed: 1})
		if err != nil {
			continue
		}
		err = a.Samples(t.Context(), 10, func(obj map[string]any) bool {
			for range 10 {
				valid := runtime.DeepCopyJSON(obj)
				spec, ok := valid["spec"].(map[string]any)
				if !ok {
					return false
				}
				for range 3 {
					alter(r, spec, false)
				}
				req := engine.Request{Object: valid}
				if r.IntN(3) == 0 {
					req.OldObject = obj
				}
				fixed, err := e.Validate(t.Context(), req)
				if err != nil {
					continue
				}
				req.Object = runtime.DeepCopyJSON(valid)
				alter(r, req.Object["spec"].(map[string]any), true)
				res, err := e.Validate(t.Context(), req)
				if err != nil || res.Allowed {
					continue
				}
				broken++
				following, err := res.Following(t.Context())
				if err != nil {
					t.Error(filepath.Base(file), err)
				}
				announced += len(following)
				if slices.ContainsFunc(fixed.Causes, func(c engine.Cause) bool { return c.Field == "<nil>" }) {
					continue // other errors keep rules from running
				}
				for _, c := range following {
					if !slices.ContainsFunc(fixed.Causes, func(o engine.Cause) bool { return o.Field == c.Field && o.Message == c.Message }) {
						t.Errorf("%s: announced %s: %s\nobject %v\nfixed  %v", filepath.Base(file), c.Field, c.Message, req.Object, valid)
						return false
					}
				}
			}
			return true
		})
		if err != nil {
			t.Error(filepath.Base(file), err)
		}
	}
	t.Logf("%d rejected objects, %d causes announced", broken, announced)
}

// alter replaces a random scalar in v by another scalar: one of the wrong type if wrong is set, else
// one of the same type. It changes nothing if it ends in an empty list or map.
func alter(r *rand.Rand, v any, wrong bool) {
	for {
		switch at := v.(type) {
		case map[string]any:
			if len(at) == 0 {
				return
			}
			keys := slices.Sorted(maps.Keys(at))
			key := keys[r.IntN(len(keys))]
			if made, ok := altered(r, at[key], wrong); ok {
				at[key] = made
				return
			}
			v = at[key]
		case []any:
			if len(at) == 0 {
				return
			}
			i := r.IntN(len(at))
			if made, ok := altered(r, at[i], wrong); ok {
				at[i] = made
				return
			}
			v = at[i]
		default:
			return
		}
	}
}

func altered(r *rand.Rand, v any, wrong bool) (any, bool) {
	switch v := v.(type) {
	case string:
		if wrong {
			return int64(1), true
		}
		return []any{"", v + "a", "*", "a/b", "-1"}[r.IntN(5)], true
	case int64:
		if wrong {
			return "x", true
		}
		return v + int64(r.IntN(100)) - 50, true
	case bool:
		if wrong {
			return "x", true
		}
		return !v, true
	}
	return nil, false
}
