package main

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestPage checks that docs/speed.md shows the kept results, with all sections.
func TestPage(t *testing.T) {
	t.Parallel()
	results, page, err := readResults("..")
	if err != nil {
		t.Fatal(err)
	}
	if err := samePage(results, page); err != nil {
		t.Error(err)
	}
	for _, s := range sections {
		if !slices.ContainsFunc(results.Files, func(f txtar.File) bool { return f.Name == s.name }) {
			t.Errorf("%s has no section %s: run make bench-peers", resultsFile, s.name)
		}
	}
}

func TestWithSection(t *testing.T) {
	t.Parallel()
	const page = "# Page\n\n<!-- results: a -->\n```text\nold\n```\n\nBetween.\n\n<!-- results: b -->\n```text\nkept\n```\n"
	got, err := withSection(page, "a", "new\nlines\n")
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(page, "old\n", "new\nlines\n", 1); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	results := &txtar.Archive{}
	setFile(results, "a", "new\nlines\n")
	setFile(results, "b", "lost\n")
	setFile(results, "b", "kept\n")
	if err := samePage(results, got); err != nil {
		t.Error(err)
	}
	for name, bad := range map[string]string{
		"another text":      page,
		"no section":        strings.Replace(got, "results: b", "results: c", 1),
		"section twice":     got + got,
		"one more section":  got + "<!-- results: c -->\n```text\n```\n",
		"no end of section": strings.TrimSuffix(got, "```\n"),
	} {
		if err := samePage(results, bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
