package crdedit

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

var bounds = regexp.MustCompile(`(?m)^ *max(Items|Length|Properties): \d+\n`)

// TestAdviceMends removes the bounds from CRDs of the corpus that have rules, which makes many rules too expensive, and
// applies the advice.
func TestAdviceMends(t *testing.T) {
	t.Parallel()
	mended, all := 0, 0
	files := corpus.CRDFiles(t)
	every := 1
	if !level.Long() {
		every = max(1, len(files)/40) // the whole corpus takes eight minutes
	}
	for i, file := range files {
		if i%every > 0 {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(data, []byte(validations)) {
			continue
		}
		all++
		for _, text := range bytes.Split(data, []byte("\n---\n")) {
			if fixes(t, filepath.Base(file), bounds.ReplaceAll(text, nil)) {
				mended++
			}
		}
	}
	if mended == 0 {
		t.Error("no CRD has advice")
	}
	t.Logf("%d of %d files with rules mended", mended, all)
}

func fixes(t *testing.T, name string, text []byte) bool {
	t.Helper()
	before := vetted(t, text)
	if before == nil || !advised(before) {
		return false
	}
	c, err := Parse(text, false, 0)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	fixed, n, err := c.Follow(before)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return false
	}
	after := vetted(t, fixed)
	for i, v := range after.Versions {
		if advice := v.Advice; len(advice) > 0 {
			t.Errorf("%s: %s: advice is left: %+v", name, v.Name, advice)
		}
		if before.Versions[i].Fixable && v.EstimatedCost > v.Limit {
			t.Errorf("%s: %s costs %d, more than %d", name, v.Name, v.EstimatedCost, v.Limit)
		}
	}
	if costsAlone(before) && !after.Accepted {
		t.Errorf("%s: still refused: %.500s", name, after.Status.Message)
	}
	onlyBounds(t, name, text, fixed, n)
	return true
}

func vetted(t *testing.T, text []byte) *vet.Report {
	t.Helper()
	data, err := yaml.YAMLToJSON(text)
	if err != nil || !bytes.Contains(data, []byte(`"kind":"CustomResourceDefinition"`)) {
		return nil
	}
	r, err := vet.Vet(context.Background(), data, vet.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func advised(r *vet.Report) bool {
	for _, v := range r.Versions {
		if len(v.Advice) > 0 {
			return true
		}
	}
	return false
}

func costsAlone(r *vet.Report) bool {
	for _, v := range r.Versions {
		if !v.Fixable {
			return false
		}
	}
	for _, cause := range r.Causes {
		if !strings.Contains(cause.Message, "estimated rule cost") {
			return false
		}
	}
	return true
}

func onlyBounds(t *testing.T, name string, before, after []byte, n int) {
	t.Helper()
	was, is := strings.Split(string(before), "\n"), strings.Split(string(after), "\n")
	i, changed := 0, 0
	for _, line := range is {
		bound := strings.Contains(line, "maxItems: ") || strings.Contains(line, "maxLength: ") || strings.Contains(line, "maxProperties: ")
		switch {
		case i < len(was) && line == was[i]:
			i++
		case bound && i < len(was) && strings.Split(line, ":")[0] == strings.Split(was[i], ":")[0]:
			i++
			changed++
		case bound:
			changed++
		default:
			t.Errorf("%s: the line %q is new or moved", name, line)
			return
		}
	}
	if i != len(was) || changed != n {
		t.Errorf("%s: %d of %d lines kept, %d changes, want %d", name, i, len(was), changed, n)
	}
}
