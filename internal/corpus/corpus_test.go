package corpus

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

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
	t.Setenv("CELADON_CORPUS", "../a:"+b+": :"+a) // relative to module, where make is called
	if got := Folders(t); !slices.Equal(got, []string{a, b}) {
		t.Errorf("folders %v", got)
	}
	if got := CRDFiles(t); !slices.Equal(got, []string{file}) {
		t.Errorf("files %v", got)
	}
	if got := ReadCRD(t, Largest(t, CRDFiles(t))).Kind; got != "CustomResourceDefinition" {
		t.Errorf("read a %s", got)
	}
	if _, err := find("../none"); err == nil {
		t.Error("a folder that is not there is found")
	}
}
