package celadontest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/celadontest"
)

// TestPage checks that the Go code in a section of docs/embedding.md is code of examples/operator,
// which has its own tests.
func TestPage(t *testing.T) {
	t.Parallel()
	var files []string
	err := filepath.WalkDir("../examples/operator", func(name string, _ fs.DirEntry, err error) error {
		if filepath.Ext(name) == ".go" {
			data, readErr := os.ReadFile(name)
			files = append(files, unindented(string(data)))
			err = readErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(text(t, "../docs/embedding.md")), "\n## Go tests of operators\n")
	blocks := strings.Split(page, "```go\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("the page has no code")
	}
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		found := false
		for _, file := range files {
			found = found || strings.Contains(file, unindented(code))
		}
		if !found {
			t.Errorf("in no file of the example:\n%s", code)
		}
	}
	failure := failures(t, func(t testing.TB) {
		celadontest.New(t, "../examples/operator/config/crd").Accepts(t, `{apiVersion: example.com/v1, kind: Backup,
			metadata: {name: nightly}, spec: {schedule: 0 3 * * *, volume: data, keep: 20}}`)
	})
	if !strings.Contains(unindented(page), unindented(failure)) {
		t.Errorf("the page shows another failure than\n%s", failure)
	}
}

// unindented also removes the position of a failure.
func unindented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if _, failure, found := strings.Cut(line, "_test.go:29: "); found {
			line = failure
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
