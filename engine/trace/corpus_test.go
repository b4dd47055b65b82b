package trace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine"
)

// corpusCase is what this test needs of a case of CELADON_CORPUS.
type corpusCase struct {
	Name, CRD, Version, Step, Subresource, Expect string
	Object, OldObject                             any
}

// sampled is how many refused cases there are for each that is explained.
const sampled = 4

// TestCorpus explains refusals of the corpus: the rule fails for the tracer, too,
// where the object was refused, and there is something to tell.
func TestCorpus(t *testing.T) {
	corpus := os.Getenv("CELADON_CORPUS")
	files, _ := filepath.Glob(filepath.Join(corpus, "cases", "*", "*.yaml"))
	if corpus == "" || len(files) == 0 {
		t.Skip("CELADON_CORPUS names no corpus")
	}
	explainers := map[string]*Explainer{}
	refused, explained, silent := 0, 0, 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range strings.Split(string(data), "\n---\n") {
			var c corpusCase
			if err := yaml.Unmarshal([]byte(text), &c); err != nil || c.Expect != "invalid" {
				continue
			}
			if refused++; refused%sampled != 0 {
				continue
			}
			x := explainers[c.CRD]
			if x == nil {
				x = NewExplainer(corpusEngine(t, filepath.Join(corpus, c.CRD)))
				explainers[c.CRD] = x
			}
			e, n := explainCase(t, x, &c)
			explained, silent = explained+e, silent+n
		}
	}
	t.Logf("%d refused cases, %d causes explained, nothing to tell of %d", refused, explained, silent)
	if explained == 0 || silent > 0 {
		t.Errorf("nothing to tell of %d of %d", silent, explained)
	}
}

// explainCase counts the causes that rules made, and those of which there is
// nothing to tell.
func explainCase(t *testing.T, x *Explainer, c *corpusCase) (explained, silent int) {
	t.Helper()
	req := engine.Request{Object: decoded(t, c.Object), Subresource: c.Subresource}
	if c.OldObject != nil {
		req.OldObject = decoded(t, c.OldObject)
	}
	res, err := x.engine.Validate(context.Background(), req)
	if err != nil || res.Allowed {
		return 0, 0 // judged elsewhere
	}
	self, old, err := x.engine.Seen(req)
	if err != nil {
		return 0, 0
	}
	for i, why := range x.Why(context.Background(), req, res.Causes) {
		cause := res.Causes[i]
		if cause.Rule == nil {
			continue
		}
		explained++
		tr, err := x.trace(context.Background(), cause, self, old)
		if err != nil {
			t.Errorf("%s: %s: %v", c.Name, cause.Rule.Rule, err)
		} else if tr.Err == nil && tr.Value != celtypes.False {
			t.Errorf("%s: %s is %v here", c.Name, cause.Rule.Rule, tr.Value)
		}
		if len(why) == 0 {
			silent++
			t.Logf("%s: nothing to tell of %s (%s)", c.Name, cause.Rule.Rule, cause.Detail)
		}
	}
	return explained, silent
}

func corpusEngine(t *testing.T, file string) *engine.Engine {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(data, crd); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Compile(crd, engine.Config{})
	if e == nil {
		t.Fatalf("%s: %v", file, err)
	}
	return e
}

func decoded(t *testing.T, v any) map[string]any {
	t.Helper()
	data, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if data, err = yaml.YAMLToJSON(data); err != nil {
		t.Fatal(err)
	}
	obj, err := engine.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return obj
}
