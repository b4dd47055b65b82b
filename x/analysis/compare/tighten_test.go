package compare_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/x/analysis/compare"
)

// A tightening is a schema change that can break objects. apply returns false if s does not allow it.
type tightening struct {
	what  string // the change's Subject
	apply func(s *props) bool
}

var tightenings = []tightening{
	{"bound", func(s *props) bool { // maxLength
		if s.Type != "string" || len(s.Enum) > 0 || s.Pattern != "" || s.Format != "" || s.MinLength != nil && *s.MinLength > 10 {
			return false
		}
		return lower(&s.MaxLength, 10)
	}},
	{"bound", func(s *props) bool { // half of maxLength, together with the other constraints on the string
		if s.MaxLength == nil || *s.MaxLength < 4 || s.MinLength != nil && *s.MinLength > *s.MaxLength/2 {
			return false
		}
		s.MaxLength = ptr(*s.MaxLength / 2)
		return true
	}},
	{"bound", func(s *props) bool { return s.Type == "array" && s.MinItems == nil && lower(&s.MaxItems, 3) }},
	{"bound", func(s *props) bool { return s.Type == "array" && higher(&s.MinItems, 1, s.MaxItems) }},
	{"bound", func(s *props) bool {
		return s.AdditionalProperties != nil && s.Type == "object" && lower(&s.MaxProperties, 1)
	}},
	{"bound", func(s *props) bool {
		if s.Type != "integer" || s.Maximum != nil && *s.Maximum < 9 || s.Minimum != nil && *s.Minimum > 5 || len(s.Enum) > 0 {
			return false
		}
		s.Maximum = ptr(7.0)
		return true
	}},
	{"pattern", func(s *props) bool {
		if s.Type != "string" || s.Pattern != "" || len(s.Enum) > 0 || s.Format != "" {
			return false
		}
		s.Pattern = "^[a-m]*$"
		return true
	}},
	{"enum", func(s *props) bool {
		if len(s.Enum) < 2 {
			return false
		}
		s.Enum = slices.Delete(slices.Clone(s.Enum), 0, 1)
		return true
	}},
	{"type", func(s *props) bool {
		if s.Type != "string" || len(s.Enum)+len(s.XValidations)+len(s.Format)+len(s.Pattern) > 0 || s.Default != nil {
			return false
		}
		s.Type, s.MaxLength, s.MinLength = "boolean", nil, nil
		return true
	}},
	{"required", func(s *props) bool {
		for _, name := range sortedNames(s.Properties) {
			if p := s.Properties[name]; s.Type == "object" && !slices.Contains(s.Required, name) && p.Default == nil && name != "status" && name != "metadata" && name != "kind" && name != "apiVersion" {
				s.Required = append(slices.Clone(s.Required), name)
				return true
			}
		}
		return false
	}},
	{"field", func(s *props) bool {
		for _, name := range sortedNames(s.Properties) {
			if !slices.Contains(s.Required, name) && len(s.XValidations) == 0 && name != "spec" && name != "status" && name != "metadata" && name != "kind" && name != "apiVersion" {
				delete(s.Properties, name)
				return true
			}
		}
		return false
	}},
	{"format", func(s *props) bool {
		if s.Type != "string" || s.Format != "" || s.Pattern != "" || len(s.Enum) > 0 || s.Default != nil {
			return false
		}
		s.Format = "date-time"
		return true
	}},
	{"list type", func(s *props) bool {
		if s.Type != "array" || s.XListType != nil && *s.XListType != "atomic" || s.Items == nil || s.Items.Schema.Type != "string" || s.MaxItems != nil && *s.MaxItems < 2 {
			return false
		}
		s.XListType = ptr("set")
		return true
	}},
	{"nullable", func(s *props) bool {
		was := s.Nullable
		s.Nullable = false
		return was
	}},
	{"pruning", func(s *props) bool {
		was := s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields && s.Type == "object" && !s.XEmbeddedResource
		if was {
			s.XPreserveUnknownFields = nil
		}
		return was
	}},
	{"default", func(s *props) bool {
		var v string
		if s.Default == nil || len(s.Enum) > 0 {
			return false
		}
		switch v = string(s.Default.Raw); v {
		case "true":
			v = "false"
		case "false":
			v = "true"
		default:
			return false
		}
		s.Default = &apiextensionsv1.JSON{Raw: []byte(v)}
		return true
	}},
	{"oneOf", func(s *props) bool {
		names := sortedNames(s.Properties)
		if s.Type != "object" || len(names) < 2 || len(s.OneOf)+len(s.AnyOf)+len(s.AllOf) > 0 || slices.Contains(names, "apiVersion") || len(s.Required) > 0 {
			return false
		}
		s.OneOf = []props{{Required: names[:1]}, {Required: names[1:2]}}
		return true
	}},
}

func lower(bound **int64, to int64) bool {
	if *bound != nil && **bound <= to {
		return false
	}
	*bound = &to
	return true
}

func higher(bound **int64, to int64, top *int64) bool {
	if *bound != nil && **bound >= to || top != nil && *top < to {
		return false
	}
	*bound = &to
	return true
}

func ptr[T any](v T) *T { return &v }

func sortedNames(m map[string]props) []string { return slices.Sorted(maps.Keys(m)) }

// Changes that are proved to break nothing do not count.
func TestTighteningsOfCorpus(t *testing.T) {
	files := corpus.CRDFiles(t)
	each := sample(500/len(tightenings)+1, 2)
	var mu sync.Mutex
	counts := map[string][3]int{}
	parallel(len(tightenings), func(k int) {
		kind := tightenings[k]
		for n, seed := 0, uint64(0); n < each && seed < 4000; seed++ {
			rng := rand.New(rand.NewPCG(seed, uint64(k)))
			before := oneVersion(corpus.ReadCRD(t, files[rng.IntN(len(files))]), 0)
			if before.Spec.Versions[0].Schema == nil || !before.Spec.Versions[0].Served {
				continue
			}
			after, path := tightened(rng, before, kind)
			if after == nil {
				continue
			}
			n++
			report, err := compare.CRDs(context.Background(), before, after, compare.Config{})
			mu.Lock()
			name, count := kind.what, counts[kind.what]
			switch i := slices.IndexFunc(report.Changes, func(c compare.CRDChange) bool { return c.Subject == kind.what }); {
			case err != nil || i < 0:
				t.Errorf("%s of %s %s: %v", name, before.Name, path, err)
			case report.Changes[i].Effect.Breaks():
				count[0]++
				held(t, before, after, report.Changes[i].Rejected)
			case report.Changes[i].By == compare.ByProof:
				count[1]++
			default:
				count[2]++
				c := &report.Changes[i]
				t.Logf("not shown: %s of %s %s: %s -> %s: searched %d %s", name, before.Name, path, c.Old, c.New, c.Searched, c.Reason)
			}
			counts[name] = count
			mu.Unlock()
		}
	})
	total, missed := 0, 0
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		c := counts[name]
		t.Logf("%s: %d shown to break, %d proved to change nothing, %d not known", name, c[0], c[1], c[2])
		total, missed = total+c[0]+c[2], missed+c[2]
	}
	t.Logf("%d of %d tightenings shown", total-missed, total)
	if missed*20 > total {
		t.Errorf("%d of %d tightenings are not shown", missed, total)
	}
}

func tightened(rng *rand.Rand, before *apiextensionsv1.CustomResourceDefinition, kind tightening) (after *apiextensionsv1.CustomResourceDefinition, path string) {
	var paths []string
	eachProps(before.DeepCopy().Spec.Versions[0].Schema.OpenAPIV3Schema, nil, func(path string, s *props) {
		if kind.apply(s) && !strings.HasPrefix(path, "metadata") {
			paths = append(paths, path)
		}
	})
	if len(paths) == 0 {
		return nil, ""
	}
	path = paths[rng.IntN(len(paths))]
	after = before.DeepCopy()
	eachProps(after.Spec.Versions[0].Schema.OpenAPIV3Schema, nil, func(at string, s *props) {
		if at == path {
			kind.apply(s)
		}
	})
	if _, err := engine.Compile(after, engine.Config{}); err != nil { // a server would reject the CRD
		return nil, ""
	}
	return after, path
}
