package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/x/assist"
)

// TestMistakesPage compares docs/errors.md with the index of errors.
func TestMistakesPage(t *testing.T) {
	const page = "../../docs/errors.md"
	if *update {
		if err := os.WriteFile(page, []byte(mistakesPage()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != mistakesPage() {
		t.Errorf("%s differs from the index: run the test with -update", page)
	}
}

// TestMistakeTopics checks that help describes each code, and suggests codes for other words.
func TestMistakeTopics(t *testing.T) {
	help := func(name string) (string, int) {
		var out bytes.Buffer
		code := (&app{stdin: strings.NewReader(""), stdout: &out, stderr: &out}).run(t.Context(), []string{"help", name})
		return out.String(), code
	}
	list, _ := help("errors")
	for _, e := range assist.Index() {
		text, code := help(e.Code)
		if code != 0 || !strings.Contains(text, e.Cause) || !strings.Contains(list, e.Code) {
			t.Errorf("%s: exit code %d, %s", e.Code, code, text)
		}
	}
	if text, code := help("unknown-feild"); code != 2 || !strings.Contains(text, "did you mean unknown-field?") {
		t.Errorf("exit code %d, %s", code, text)
	}
}
