package main

import (
	"bytes"
	"context"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/level"
)

func TestSameBytes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../examples/crontab/[ou]*s/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 3 {
		t.Fatalf("files: %v", files)
	}
	order, rounds := rand.New(rand.NewPCG(1, 2)), 20
	if level.Long() {
		rounds = 100
	}
	for _, format := range []string{"text", "json", "jsonl", "junit", "sarif", "github", "gitlab", "markdown"} {
		var first string
		parts := map[string]string{}
		for round := range rounds {
			if whole := checked(t, format, files); round == 0 {
				first = whole
			} else if whole != first {
				t.Fatalf("-o %s, run %d:\n%s\nat first:\n%s", format, round, whole, first)
			}
			if format != "jsonl" {
				continue // other formats mix the reports on several files
			}
			mixed := append([]string{}, files...)
			order.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			for file, lines := range byFile(checked(t, format, mixed), mixed) {
				if known, ok := parts[file]; ok && known != lines {
					t.Fatalf("%s, run %d:\n%s\nat first:\n%s", file, round, lines, known)
				}
				parts[file] = lines
			}
		}
		if format == "jsonl" && len(parts) != len(files) {
			t.Errorf("lines name %d of %d files", len(parts), len(files))
		}
	}
}

func checked(t *testing.T, format string, files []string) string {
	t.Helper()
	var out, stderr bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &stderr}
	a.run(context.Background(), append([]string{"check", "--crd", crontabCRD, "-o", format}, files...))
	if out.Len() == 0 {
		t.Fatalf("-o %s: no report: %s", format, &stderr)
	}
	return out.String()
}

func byFile(out string, files []string) map[string]string {
	parts := map[string]string{}
	for line := range strings.Lines(out) {
		for _, file := range files {
			if strings.Contains(line, filepath.ToSlash(file)) {
				parts[file] += line
			}
		}
	}
	return parts
}
