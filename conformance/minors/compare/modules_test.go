package compare

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestModules(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../*/1.*.mod")
	if err != nil || len(files) < 11 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		minor := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "1."), ".mod")
		if want := "k8s.io/apiextensions-apiserver v0." + minor + "."; !strings.Contains(string(data), want) {
			t.Errorf("%s: %q is not required", file, want)
		}
	}
}
