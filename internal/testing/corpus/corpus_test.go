package corpus

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCases(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "cases/p"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "---\ncrd: crds/p/c.yaml\nversion: v1\nsubresource: status\nobject: {a: 1}\noldObject: {a: 2}\n---\ncrd: crds/p/c.yaml\nobject: {a: 3}\n---\nname: no object\n"
	if err := os.WriteFile(filepath.Join(dir, "cases/p/c.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := slices.Collect(Cases(t, dir))
	if len(got) != 2 || got[0].Subresource != "status" || got[0].OldObject["a"] != int64(2) || got[1].OldObject != nil || got[1].Object["a"] != int64(3) {
		t.Errorf("got %v", got)
	}
	for range Cases(t, dir) {
		break
	}
	for c := range Cases(t, t.TempDir()) {
		t.Errorf("a case of nothing: %v", c)
	}
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/crds/p", "b", "module/package"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "a/crds/p/c.yaml")
	if err := os.WriteFile(file, []byte("kind: CustomResourceDefinition\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	t.Chdir(filepath.Join(dir, "module/package"))
	t.Setenv("CELADON_CORPUS", "../a:"+b+": :"+a) // relative to the folder in which make is called
	if got := Folders(t); !slices.Equal(got, []string{a, b}) {
		t.Errorf("folders %v", got)
	}
	if got := CRDFiles(t); !slices.Equal(got, []string{file}) {
		t.Errorf("files %v", got)
	}
	if got := ReadCRD(t, Largest(t, CRDFiles(t))).Kind; got != "CustomResourceDefinition" {
		t.Errorf("read a %s", got)
	}
	if _, err := findCorpus("../none"); err == nil {
		t.Error("a folder that is not there is found")
	}
}
