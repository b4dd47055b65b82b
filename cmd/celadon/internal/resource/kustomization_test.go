package resource

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func newTree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestKustomizations(t *testing.T) {
	t.Parallel()
	root := newTree(t, map[string]string{
		"base/kustomization.yaml":   "resources: [a.yaml, ../top.yaml, https://example.com/x.yaml, 'github.com/o/r//d?ref=v1', ../../up, /etc/passwd]\npatches: [path: p.yaml, {patch: 'a: b', target: {kind: K}}, path: a.yaml]",
		"over/Kustomization":        "patchesStrategicMerge: [p.yaml, 'kind: K\nmetadata: {name: a}\n']\npatchesJson6902: [{path: sub/j.yaml, target: {kind: K}}]\ncomponents: [../base]",
		"broken/kustomization.yaml": "patches: [",
		"types/kustomization.yaml":  "patches: {path: p.yaml}\nresources: [7, {path: [1]}, null]",
		"hostile/kustomization.yml": "patches: [path: ., path: .., path: ../../../etc/passwd, path: /etc/passwd, path: kustomization.yml]\nresources: [.]",
	})
	k := NewKustomizations(root, "-")
	for file, want := range map[string]bool{
		"base/p.yaml": true, "base/a.yaml": false, "over/p.yaml": true, "over/sub/j.yaml": true, "over/sub/p.yaml": false,
		"top.yaml": false, "broken/p.yaml": false, "types/p.yaml": false, "hostile/a.yaml": false, "hostile/kustomization.yml": true,
		"../outside.yaml": false,
	} {
		if got := k.IsPatch(filepath.Join(root, file)); got != want {
			t.Errorf("%s: a patch: %v, want %v", file, got, want)
		}
	}
	var notes strings.Builder
	for _, note := range k.Notes() {
		fmt.Fprintln(&notes, strings.ReplaceAll(note.Error(), root+string(filepath.Separator), ""))
	}
	const want = `4 patch files of kustomize ignored: check the output of kustomize build to check the patched objects (base/p.yaml, hostile/kustomization.yml, over/p.yaml, over/sub/j.yaml)
4 resources of kustomize outside of the given folders not checked (base/kustomization.yaml: ../../up, base/kustomization.yaml: /etc/passwd, base/kustomization.yaml: github.com/o/r//d?ref=v1, base/kustomization.yaml: https://example.com/x.yaml)
`
	if got := notes.String(); got != want {
		t.Errorf("notes:\n%swant:\n%s", got, want)
	}
	if k := (*Kustomizations)(nil); k.IsPatch("a") || k.Notes() != nil {
		t.Error("nil is not empty")
	}
}

func TestKustomizationLimits(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	list.WriteString("patches:\n")
	for i := range maxEntries + 10 {
		fmt.Fprintf(&list, "- path: p%d.yaml\n", i)
	}
	root := newTree(t, map[string]string{
		"many/kustomization.yaml": list.String(),
		"huge/kustomization.yaml": "patches: [path: p.yaml]\n" + strings.Repeat("#", maxKustomization),
		"linked/p.yaml":           "", "loop/p.yaml": "",
	})
	outside := newTree(t, map[string]string{"kustomization.yaml": "patches: [path: p.yaml]"})
	for name, to := range map[string]string{"linked": filepath.Join(outside, "kustomization.yaml"), "loop": "kustomization.yaml"} {
		if err := os.Symlink(to, filepath.Join(root, name, "kustomization.yaml")); err != nil {
			t.Skip(err)
		}
	}
	k := NewKustomizations(root)
	for file, want := range map[string]bool{
		"many/p0.yaml": true, fmt.Sprintf("many/p%d.yaml", maxEntries): false, "huge/p.yaml": false, "linked/p.yaml": false, "loop/p.yaml": false,
	} {
		if got := k.IsPatch(filepath.Join(root, file)); got != want {
			t.Errorf("%s: a patch: %v, want %v", file, got, want)
		}
	}
	k.entries = maxAllEntries
	k.folders = map[string]*kustomization{}
	if k.IsPatch(filepath.Join(root, "many/p0.yaml")) {
		t.Error("entries beyond the limit of all files are read")
	}
}
