package celadon_test

import (
	"os"
	"strings"
	"testing"
)

// embedding lists the tested files that contain the code of docs/embedding.md.
var embedding = []string{
	"engine/example_test.go", "engine/admission/example_test.go", "engine/vet/upgrade_example_test.go",
	"examples/operator/internal/webhook/webhook.go", "examples/validate/main.go", "internal/testing/window/embedder_test.go",
}

// goTests is the section of docs/embedding.md whose code package celadontest checks.
const goTests = "\n## Go tests of operators\n"

func TestPageCode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		page   string
		files  []string
		blocks int
	}{
		{"docs/embedding.md", embedding, 6},
		{"README.md", []string{"engine/example_test.go"}, 1},
		{"README.md", []string{"internal/testing/window/embedder_test.go"}, 1},
	} {
		var code strings.Builder
		for _, name := range tt.files {
			code.WriteString(unindented(t, name))
		}
		page, _, _ := strings.Cut(unindented(t, tt.page), goTests)
		blocks := strings.Split(page, "```go\n")[1:]
		for _, block := range blocks {
			block, _, _ = strings.Cut(block, "```")
			if !strings.Contains(code.String(), "\n"+block) {
				t.Errorf("%s: in none of %v:\n%s", tt.page, tt.files, block)
			}
		}
		if len(blocks) != tt.blocks {
			t.Errorf("%s has %d blocks of code, want %d", tt.page, len(blocks), tt.blocks)
		}
	}
}

func unindented(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(data)) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}
