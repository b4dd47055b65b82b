package answer_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/answer"
	"github.com/celadon-cel/celadon/internal/corpus"
)

// corpusCase is what of a case of CELADON_CORPUS a page is given.
type corpusCase struct {
	CRD, Subresource  string
	Object, OldObject any
}

// TestSameAsCommandOfCorpus: over cases of the corpus the answers have in them what the
// command says. CELADON_PLAYGROUND=long takes 200 cases; with CELADON_ANSWERS the
// questions and what the command says are written into that folder, a file each, for
// the page's own test.
func TestSameAsCommandOfCorpus(t *testing.T) {
	t.Parallel()
	want := 12
	if os.Getenv("CELADON_PLAYGROUND") == "long" {
		want = 200
	}
	cases := corpusCases(t)
	celadon := buildCommand(t)
	r := answer.NewRoom()
	out := os.Getenv("CELADON_ANSWERS")
	every := max(1, len(cases)/want)
	for i := 0; i/every < want && i < len(cases); i += every {
		req := cases[i]
		answers := same(t, celadon, r, req)
		if out == "" {
			continue
		}
		text, err := json.Marshal(map[string]any{"question": req, "answers": answers})
		if err == nil {
			err = os.WriteFile(filepath.Join(out, fmt.Sprintf("%03d.json", i/every)), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func corpusCases(t *testing.T) (requests []answer.Request) {
	t.Helper()
	for _, folder := range corpus.Folders(t) {
		files, _ := filepath.Glob(filepath.Join(folder, "cases", "*", "*.yaml"))
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range strings.Split(string(data), "\n---\n") {
				var c corpusCase
				if yaml.Unmarshal([]byte(text), &c) != nil || c.CRD == "" || c.Object == nil {
					continue
				}
				crd, err := os.ReadFile(filepath.Join(folder, c.CRD))
				if err != nil {
					t.Fatal(err)
				}
				req := answer.Request{CRD: string(crd), Object: asYAML(t, c.Object)}
				if c.OldObject != nil {
					req.Old = asYAML(t, c.OldObject)
					if c.Subresource == "status" {
						req.Subresource = c.Subresource
					}
				}
				requests = append(requests, req)
			}
		}
	}
	return requests
}

func asYAML(t *testing.T, v any) string {
	t.Helper()
	text, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func buildCommand(t *testing.T) string {
	t.Helper()
	celadon := filepath.Join(t.TempDir(), "celadon")
	if out, err := exec.Command("go", "build", "-o", celadon, "github.com/celadon-cel/celadon/cmd/celadon").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return celadon
}
