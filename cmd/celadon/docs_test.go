package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

// everyDocsCRD is the sampling interval of a short test in the corpus.
const everyDocsCRD = 50

// CELADON_LEVEL=long tests the whole corpus.
func TestDocsExamples(t *testing.T) {
	t.Parallel()
	files := []string{crontabCRD, kindsCRD, "../../x/publish/testdata/everything.yaml"}
	for _, folder := range corpus.Named(t) {
		all, err := filepath.Glob(filepath.Join(folder, "crds", "*", "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for i, file := range all {
			if level.Long() || i%everyDocsCRD == 0 {
				files = append(files, file)
			}
		}
	}
	examples, missing := 0, 0
	for _, file := range files {
		page := string(jsonOf(t, "docs", "--crd", file))
		found := pageExamples(page)
		examples += len(found)
		missing += strings.Count(page, "\n\nno example found among ") + strings.Count(page, "\n\nno example: ")
		if len(found) > 0 {
			checkPageExamples(t, file, found)
		}
	}
	t.Logf("%d CRDs, %d examples, %d not found", len(files), examples, missing)
	if examples < len(files) {
		t.Errorf("%d examples on %d pages: want more", examples, len(files))
	}
}

func pageExamples(page string) (all []string) {
	for _, block := range regexp.MustCompile("(?ms)^(`{3,})yaml\n(.*?)^```").FindAllStringSubmatch(page, -1) {
		all = append(all, block[2])
	}
	return all
}

func checkPageExamples(t *testing.T, crd string, examples []string) {
	t.Helper()
	objects := filepath.Join(t.TempDir(), "objects.yaml")
	if err := os.WriteFile(objects, []byte(strings.Join(examples, "---\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	var r struct{ Objects []finding.Object }
	out := jsonOf(t, "check", "--no-config", "--no-vet", "--crd", crd, "-o", "json", objects)
	if err := json.Unmarshal(out, &r); err != nil || len(r.Objects) != len(examples) {
		t.Fatalf("%s: %d objects of %d: %v", crd, len(r.Objects), len(examples), err)
	}
	for i, o := range r.Objects {
		if o.Verdict != "valid" || len(o.Warnings) > 0 && !strings.Contains(strings.Join(o.Warnings, " "), "deprecated") {
			t.Errorf("%s: check reports %s, %v, %v for\n%s", crd, o.Verdict, o.Causes, o.Warnings, examples[i])
		}
	}
}
