package lsp

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
)

// markersExample copies the example with markers into a new repository. It returns the folder, and the path
// and content of a file, separated by NUL.
func markersExample(t *testing.T) (dir, types string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.CopyFS(dir, os.DirFS("../../../../examples/markers"))
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, ".git"), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "api/v1/*.go"))
	if err != nil || len(found) == 0 {
		t.Fatal(err, found)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(dir, found[0])
	if err != nil {
		t.Fatal(err)
	}
	return dir, rel + "\x00" + string(data)
}

func TestGoMarkers(t *testing.T) {
	t.Parallel()
	dir, types := markersExample(t)
	name, text, _ := strings.Cut(types, "\x00")
	untrusted := serve(t, nil, dir)
	if got := untrusted.open(name, text); len(got) > 0 {
		t.Errorf("not trusted: %v", messages(got))
	}
	c := serve(t, map[string]any{"trusted": true}, dir)
	diagnostics := c.open(name, text)
	i := slices.IndexFunc(diagnostics, func(d protocol.Diagnostic) bool { return strings.Contains(d.Message, "undeclared reference to 'slef'") })
	if i < 0 {
		t.Fatalf("%v", messages(diagnostics))
	}
	if word := find(t, text, "slef", false); diagnostics[i].Range.Start != word || diagnostics[i].Range.End != find(t, text, "slef", true) {
		t.Errorf("%v, want the word at %v", diagnostics[i].Range, word)
	}
	// Unsaved text is used; a rule that the CRD does not have yet is reported.
	again := c.change(name, protocol.Change{Text: strings.Replace(text, "self.to.url", "self.too.url", 1)})
	if !slices.ContainsFunc(again, func(d protocol.Diagnostic) bool { return d.Code == "marker-without-rule" }) {
		t.Errorf("%v", messages(again))
	}
	// A missing bound is added above its field.
	c.change(name, protocol.Change{Text: text})
	written := 0
	for _, d := range diagnostics {
		if d.Code != "advice" {
			continue
		}
		for _, a := range c.actionsAt(name, d.Range) {
			marker, ok := strings.CutPrefix(a.Title, "write //")
			if after := applied(t, text, c.uri(name), a); ok && after == strings.Replace(text, "	Volumes ", "	//"+marker+"\n	Volumes ", 1) {
				written++
			}
		}
	}
	if written == 0 {
		t.Error("no missing marker is written")
	}
	// Findings beyond the limit are counted.
	rules := strings.Repeat("	// +kubebuilder:validation:XValidation:rule=\"true\"\n", maxFindings+10)
	many := c.change(name, protocol.Change{Text: strings.Replace(text, "	Volumes ", rules+"	Volumes ", 1)})
	if want := fmt.Sprintf("and %d more findings", len(diagnostics)+10); len(many) != maxFindings+1 || many[maxFindings].Message != want {
		t.Errorf("%d findings, want %d and %q: %s", len(many), maxFindings, want, many[len(many)-1].Message)
	}
	c.change(name, protocol.Change{Text: text})
	c.tell("workspace/didChangeConfiguration", map[string]any{"settings": map[string]any{"celadon": map[string]any{"trusted": false}}})
	if got := c.until(name, diagnostics, 0); len(got) > 0 {
		t.Errorf("no longer trusted: %v", messages(got))
	}
}
