package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/celadon-cel/celadon/conformance/suite"
)

// serveVariable is the environment variable that makes the test binary the implementation.
const serveVariable = "CELADON_SUITE_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

var update = flag.Bool("update", false, "rewrite the lines in ../testdata")

func TestTranscript(t *testing.T) {
	t.Parallel()
	s, err := suite.Default()
	if err != nil {
		t.Fatal(err)
	}
	var requests, answers bytes.Buffer
	enc := json.NewEncoder(&requests)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(suite.Hello()); err != nil {
		t.Fatal(err)
	}
	newest, seen := s.Minors[len(s.Minors)-1].Minor, map[string]bool{}
	for i := range s.Cases {
		c := &s.Cases[i]
		if kind := c.Group + c.Subresource; !seen[kind] && c.Expected(newest) != nil {
			seen[kind] = true
			if err := enc.Encode(s.Request(c, newest)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := serve(t.Context(), bytes.NewReader(requests.Bytes()), &answers); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][]byte{"requests.jsonl": requests.Bytes(), "answers.jsonl": answers.Bytes()} {
		file := filepath.Join("..", "testdata", name)
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || !bytes.Equal(want, got) {
			t.Errorf("%s differs (%v): run with -update", file, err)
		}
	}
}

func TestCeladon(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(serveVariable, "1")
	s, err := suite.Default()
	if err != nil {
		t.Fatal(err)
	}
	report, err := s.Run(t.Context(), suite.Config{Command: []string{self}, Timeout: 5 * time.Minute})
	if err != nil {
		t.Error(err)
	}
	var b bytes.Buffer
	report.Print(&b, 20)
	t.Logf("\n%s", b.String())
	if !report.Passed() {
		t.Error("Celadon differs")
	}
}
