package admission_test

import (
	"os"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

// TestImageIsImmutable is what a test of one's own CRD looks like.
func TestImageIsImmutable(t *testing.T) {
	t.Parallel()
	crd := readCRD(t, "../../examples/crontab/crd.yaml")
	e, err := engine.Compile(crd, engine.Config{}) // fails on any broken rule
	if err != nil {
		t.Fatal(err)
	}
	stored := cronTab(t, "backup:1.4")
	changed := cronTab(t, "backup:1.5")
	res, err := e.Validate(t.Context(), engine.Request{Object: changed, OldObject: stored})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Causes) != 1 || res.Causes[0].Field != "spec.image" {
		t.Errorf("got %v", res.Failure)
	}
	if res.Cost > 100 {
		t.Errorf("cost %d", res.Cost)
	}
}

func cronTab(t *testing.T, image string) map[string]any {
	t.Helper()
	obj, err := engine.Decode([]byte(`{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"nightly"},
		"spec":{"schedule":"0 3 * * *","image":"` + image + `"}}`))
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

// TestPage holds the code on the page to the code that runs here.
func TestPage(t *testing.T) {
	t.Parallel()
	code := map[string]bool{}
	for _, file := range []string{"example_test.go", "crd_example_test.go"} {
		for line := range strings.Lines(readFile(t, file)) {
			code[strings.TrimSpace(line)] = true
		}
	}
	inside, lines := false, 0
	for line := range strings.Lines(readFile(t, "../../docs/embedding.md")) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```go"
		case inside:
			if lines++; !code[line] {
				t.Errorf("not in a test: %s", line)
			}
		}
	}
	if lines < 40 {
		t.Errorf("only %d lines of code on the page", lines)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
