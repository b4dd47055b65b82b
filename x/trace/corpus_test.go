package trace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/x/trace/record"
)

type corpusCase struct {
	Name, CRD, Version, Step, Subresource, Expect string
	Object, OldObject                             any
}

const sampled = 4

func TestCorpus(t *testing.T) {
	explainers := map[string]*Explainer{}
	rejected, explained, silent := 0, 0, 0
	for _, folder := range corpus.Folders(t) {
		for _, c := range rejectedCases(t, folder) {
			if rejected++; rejected%sampled != 0 {
				continue
			}
			file := filepath.Join(folder, c.CRD)
			x := explainers[file]
			if x == nil {
				x = NewExplainer(corpusEngine(t, file))
				explainers[file] = x
			}
			e, n := explainCase(t, x, &c)
			explained, silent = explained+e, silent+n
		}
	}
	t.Logf("%d refused cases, %d causes explained, nothing to tell of %d", rejected, explained, silent)
	if silent > 0 {
		t.Errorf("nothing to tell of %d of %d", silent, explained)
	}
}

func rejectedCases(t *testing.T, folder string) (cases []corpusCase) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(folder, "cases", "*", "*.yaml"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range strings.Split(string(data), "\n---\n") {
			var c corpusCase
			if err := yaml.Unmarshal([]byte(text), &c); err == nil && c.Expect == "invalid" {
				cases = append(cases, c)
			}
		}
	}
	return cases
}

func explainCase(t *testing.T, x *Explainer, c *corpusCase) (explained, silent int) {
	t.Helper()
	req := engine.Request{Object: decoded(t, c.Object), Subresource: c.Subresource}
	if c.OldObject != nil {
		req.OldObject = decoded(t, c.OldObject)
	}
	res, err := x.engine.Validate(context.Background(), req)
	if err != nil || res.Allowed {
		return 0, 0 // not the subject of this test
	}
	whys, err := x.Why(context.Background(), res.Prepared, res.Causes)
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
	}
	for i, why := range whys {
		cause := res.Causes[i]
		if cause.Rule == nil {
			continue
		}
		explained++
		tr, err := x.trace(context.Background(), res.Prepared, cause, record.NewBudget(record.MaxObjectWork))
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
	e, err := engine.Compile(corpus.ReadCRD(t, file), engine.Config{})
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
