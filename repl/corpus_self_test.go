package repl

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

func TestCorpusSelf(t *testing.T) {
	t.Parallel()
	objects := 0
	for _, folder := range corpus.Folders(t) {
		files, err := filepath.Glob(filepath.Join(folder, "cases", "*", "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		sessions := map[string]*Session{}
		for n, file := range files {
			if leftOutOfShort(n) {
				continue
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i, text := range bytes.Split(data, []byte("\n---\n")) {
				var c struct {
					CRD    string
					Object json.RawMessage
				}
				if err := yaml.Unmarshal(text, &c); err != nil {
					t.Fatalf("%s: document %d: %v", file, i, err)
				}
				s := sessions[c.CRD]
				if s == nil && c.CRD != "" {
					s = sessionOver(t, filepath.Join(folder, c.CRD))
					sessions[c.CRD] = s
				}
				if s == nil || s.LoadObject(Document{File: file, Text: text, JSON: c.Object}) != nil {
					continue // the version is not served, or it is not an object
				}
				s.past = nil
				objects++
				wholeObject(t, s, file, i)
			}
		}
	}
	t.Logf("%d objects", objects)
	if objects == 0 {
		t.Skip("the corpora have no cases")
	}
}

func sessionOver(t *testing.T, crd string) *Session {
	t.Helper()
	s, err := NewSession(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.LoadCRD(readDocuments(t, crd)[0]); err != nil {
		t.Fatal(err)
	}
	return s
}

func wholeObject(t *testing.T, s *Session, file string, i int) {
	t.Helper()
	for _, src := range []string{"self.metadata", "[optional.of(self)]"} {
		a, err := s.Eval(t.Context(), src)
		if err != nil || a.Err != nil {
			t.Errorf("%s: document %d: %s: %v, %v", file, i, src, a, err)
			continue
		}
		if _, err := json.Marshal(a.Value.JSON()); err != nil || a.Value.String() == "" {
			t.Errorf("%s: document %d: %s cannot be written: %v", file, i, src, err)
		}
	}
	if reply := s.Do(t.Context(), "self"); reply.Failed || !strings.Contains(reply.Text, `"metadata": {`) {
		t.Errorf("%s: document %d: %.200s", file, i, reply.Text)
	}
}
