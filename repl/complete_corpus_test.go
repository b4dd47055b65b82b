package repl

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/celadon-cel/celadon/x/assist"
)

// TestCompleteCorpus checks that the shell and the editor return the same candidates at random positions in rules.
func TestCompleteCorpus(t *testing.T) {
	t.Parallel()
	want, completions := 400, 0
	if level.Long() {
		want = 5000
	}
	files := corpusCRDs(t)
	random := rand.New(rand.NewPCG(22, 3))
	random.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	for round := 0; completions < want && round < 3; round++ {
		for _, file := range files {
			if completions >= want {
				break
			}
			for _, doc := range readDocuments(t, file) {
				completions += completeAll(t, doc, random, 40)
			}
		}
	}
	t.Logf("%d places", completions)
	if completions == 0 {
		t.Error("no place has a rule")
	}
}

func completeAll(t *testing.T, doc Document, random *rand.Rand, most int) (completions int) {
	t.Helper()
	c, err := newCRD(doc, engine.Config{})
	if err != nil {
		return 0
	}
	s, err := NewSession(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.LoadCRD(doc); err != nil {
		t.Fatal(err)
	}
	for i := range c.def.Spec.Versions {
		v := &c.def.Spec.Versions[i]
		if v.Schema == nil {
			continue
		}
		for _, steps := range rulePaths(v.Schema.OpenAPIV3Schema, nil) {
			path := engine.FormatPath(steps)
			must(t, s, ":use "+v.Name)
			must(t, s, ":cd /"+path)
			place, err := assist.NewContext(c.engine, v.Schema.OpenAPIV3Schema, v.Name, path)
			if err != nil {
				t.Fatal(err)
			}
			for _, rule := range assist.SchemaAt(v.Schema.OpenAPIV3Schema, steps).XValidations {
				for range min(5, 1+len(rule.Rule)/30) {
					if completions >= most {
						return completions
					}
					at := random.IntN(len([]rune(rule.Rule)) + 1)
					completions++
					shell, editor := s.Complete(rule.Rule, at), place.CompleteAt(rule.Rule, at)
					if at == 0 { // the shell also completes commands
						editor = shell
					}
					if !reflect.DeepEqual(shell, editor) {
						t.Errorf("%s: %q at %d: the shell has %+v, the editor %+v", doc.File, rule.Rule, at, shell, editor)
					}
				}
			}
		}
	}
	return completions
}
