package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const corpusCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.corpus.test}
spec:
  group: corpus.test
  conversion: {strategy: Webhook}
`

const corpusCases = `---
name: first
crd: crds/p/a.yaml
alsoCrds: [crds/p/a.yaml, crds/p/b.yaml, crds/p/missing.yaml]
version: v1
expect: valid
object: {apiVersion: corpus.test/v1, kind: Thing, metadata: {name: a, uid: u}, spec: {whole: 1, broken: 1.5}}
---
name: no such CRD
crd: crds/p/missing.yaml
object: {kind: Thing}
---
name: third
crd: crds/p/a.yaml
object: {kind: Thing}
oldObject: {kind: Thing, metadata: {uid: kept}}
`

const corpusAnswers = `{"file":"cases/p/c.yaml","index":2,"verdict":"invalid","message":"m selfType12","causes":[{"reason":"r","field":"f","message":"selfType34 x"}]}
`

func TestReadCorpus(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"crds/p/a.yaml": corpusCRD, "crds/p/b.yaml": corpusCRD, "cases/p/c.yaml": corpusCases, "answers/p.jsonl": corpusAnswers,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	corpus, err := ReadCorpus(dir)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, c := range corpus.Cases {
		ids = append(ids, c.ID)
	}
	if got, want := strings.Join(ids, " "), "p/c.yaml#0 p/c.yaml#0@b p/c.yaml#2"; got != want {
		t.Fatalf("cases %s, want %s", got, want)
	}
	for _, id := range []string{"p/c.yaml#0", "p/c.yaml#1"} {
		if corpus.Unreadable[id] == nil {
			t.Errorf("%s: the missing CRD is not reported", id)
		}
	}
	checkFirst(t, corpus.Cases[0])
	third := corpus.Cases[2]
	if !third.Update() || third.Recorded == nil || third.Recorded.Allowed || third.Recorded.Causes[0].Message != "selfType x" {
		t.Errorf("third case %+v, recorded %+v", third, third.Recorded)
	}
}

func checkFirst(t *testing.T, c *Case) {
	t.Helper()
	spec := c.Object["spec"].(map[string]any)
	if _, ok := spec["whole"].(int64); !ok {
		t.Errorf("a whole number is a %T, want int64", spec["whole"])
	}
	if _, ok := spec["broken"].(float64); !ok {
		t.Errorf("a broken number is a %T, want float64", spec["broken"])
	}
	if metadataOf(c.Object)["uid"] != nil {
		t.Error("the uid of another server is kept")
	}
	if c.CRD.Definition.Spec.Conversion != nil {
		t.Error("a webhook is kept")
	}
	if c.Recorded != nil || c.Update() {
		t.Errorf("first case %+v", c)
	}
}
