package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/celadon-cel/celadon/conformance/peers/command"
)

// results holds the text of each section of the last run. docs/speed.md shows it.
const (
	resultsFile = "peers/testdata/results.txtar"
	pageFile    = "docs/speed.md"
)

// readResults reads the results and the page in the module at dir.
func readResults(dir string) (results *txtar.Archive, page string, err error) {
	if results, err = txtar.ParseFile(filepath.Join(dir, resultsFile)); err != nil {
		return nil, "", err
	}
	text, err := os.ReadFile(filepath.Join(dir, "..", pageFile))
	return results, string(text), err
}

// writeSection replaces a section of the results and of the page.
func writeSection(name, text string) error {
	dir, err := command.ModuleDir("github.com/celadon-cel/celadon/conformance")
	if err != nil {
		return err
	}
	results, page, err := readResults(dir)
	if err != nil {
		return err
	}
	if page, err = withSection(page, name, text); err != nil {
		return err
	}
	setFile(results, name, text)
	if err := os.WriteFile(filepath.Join(dir, resultsFile), txtar.Format(results), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "..", pageFile), []byte(page), 0o644)
}

func setFile(a *txtar.Archive, name, text string) {
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = []byte(text)
			return
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(text)})
}

// These surround a section of the page.
const (
	sectionStart = "<!-- results: %s -->\n```text\n"
	sectionEnd   = "```\n"
)

// sectionOf returns the text of a section of the page, and the page before and after it.
func sectionOf(page, name string) (before, text, after string, err error) {
	start := fmt.Sprintf(sectionStart, name)
	before, rest, found := strings.Cut(page, start)
	text, after, closed := strings.Cut(rest, sectionEnd)
	if !found || !closed || strings.Contains(after, start) {
		return "", "", "", fmt.Errorf("%s: want one block of text after %q", pageFile, strings.TrimSpace(start))
	}
	return before + start, text, sectionEnd + after, nil
}

// withSection returns the page with another text in a section.
func withSection(page, name, text string) (string, error) {
	before, _, after, err := sectionOf(page, name)
	return before + text + after, err
}

// samePage returns an error unless the page shows the results.
func samePage(results *txtar.Archive, page string) error {
	for _, f := range results.Files {
		_, text, _, err := sectionOf(page, f.Name)
		if err != nil {
			return err
		}
		if text != string(bytes.TrimLeft(f.Data, "\n")) {
			return fmt.Errorf("%s: section %s differs from %s: both are written by make bench-peers", pageFile, f.Name, resultsFile)
		}
	}
	if n := strings.Count(page, "<!-- results: "); n != len(results.Files) {
		return fmt.Errorf("%s has %d sections of results, want the %d of %s", pageFile, n, len(results.Files), resultsFile)
	}
	return nil
}
