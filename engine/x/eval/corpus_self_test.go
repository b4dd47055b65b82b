package eval

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/types"
)

type corpusCase struct {
	CRD, Version string
	Object       any
}

// TestCorpusSelf evaluates self and a macro over its fields for every object in the corpora, and
// traverses the results completely.
func TestCorpusSelf(t *testing.T) {
	t.Parallel()
	objects := 0
	for _, folder := range corpus.Folders(t) {
		files, err := filepath.Glob(filepath.Join(folder, "cases", "*", "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		decls := map[string]*types.Decl{}
		programs := map[*types.Decl][]*Program{}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i, doc := range bytes.Split(data, []byte("\n---\n")) {
				var c corpusCase
				if err := yaml.Unmarshal(doc, &c); err != nil {
					t.Fatalf("%s: document %d: %v", file, i, err)
				}
				d := caseDecl(t, decls, folder, &c)
				if d == nil {
					continue
				}
				if programs[d] == nil {
					programs[d] = selfPrograms(t, d)
				}
				objects++
				for _, prog := range programs[d] {
					out := prog.Eval(t.Context(), Bind(d, wholeNumbers(c.Object)))
					if out.Err != nil {
						t.Errorf("%s: document %d: %v", file, i, out.Err)
						continue
					}
					if nothing := withoutValue(out.Value, "self"); nothing != "" || !SizeAtMost(out.Value, 1<<24) {
						t.Errorf("%s: document %d: no value at %q", file, i, nothing)
					}
				}
			}
		}
	}
	t.Logf("%d objects", objects)
	if objects == 0 {
		t.Skip("the corpora have no cases")
	}
}

func caseDecl(t *testing.T, known map[string]*types.Decl, folder string, c *corpusCase) *types.Decl {
	key := c.CRD + " " + c.Version
	d, ok := known[key]
	if !ok && c.CRD != "" {
		for name, version := range crdVersions(t, filepath.Join(folder, c.CRD)) {
			known[c.CRD+" "+name] = version
		}
		d = known[key]
	}
	return d
}

func selfPrograms(t *testing.T, d *types.Decl) []*Program {
	env := environment(t, d, false)
	var progs []*Program
	for _, src := range []string{"self", "[self]", "optional.of(self).value()", "dyn(self).map(k, k)", "dyn(self.metadata).all(k, k != '')"} {
		s, err := newSubject(env, d, src)
		if err != nil {
			t.Fatal(err)
		}
		progs = append(progs, s.ours)
	}
	return progs
}

func wholeNumbers(v any) any {
	switch v := v.(type) {
	case float64:
		if n := int64(v); float64(n) == v {
			return n
		}
	case []any:
		for i := range v {
			v[i] = wholeNumbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = wholeNumbers(v[key])
		}
	}
	return v
}

func withoutValue(v ref.Val, path string) string {
	switch v := v.(type) {
	case nil:
		return path
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == celtypes.True; {
			if it.Next() == nil {
				return path + " (a key)"
			}
		}
		for _, key := range celvalue.Keys(v) {
			if found := withoutValue(v.Get(key), fmt.Sprintf("%s[%v]", path, key)); found != "" {
				return found
			}
		}
	case traits.Lister:
		for it := v.Iterator(); it.HasNext() == celtypes.True; {
			if found := withoutValue(it.Next(), path+"[]"); found != "" {
				return found
			}
		}
	}
	return ""
}
