// Package corpus finds the real CRDs, and writes of them, that tests use. A corpus is a folder with
// the subfolders crds and cases. CELADON_CORPUS is a list of such folders, separated like PATH.
package corpus

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/internal/testing/level"
)

// Folders returns the folders in CELADON_CORPUS. It skips the test without any, or if
// CELADON_LEVEL is quick.
func Folders(t testing.TB) []string {
	t.Helper()
	folders := Named(t)
	if len(folders) == 0 {
		t.Skip("CELADON_CORPUS names no folder")
	}
	return folders
}

// Named is like Folders for tests that can also run without a corpus. It returns nil if CELADON_LEVEL is quick. It
// looks for relative folders in the working directory of go test and in its parents, because make may have been
// called there.
func Named(t testing.TB) (folders []string) {
	t.Helper()
	if level.Quick() {
		return nil
	}
	for _, name := range filepath.SplitList(os.Getenv("CELADON_CORPUS")) {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		folder, err := findCorpus(name)
		if err != nil {
			t.Fatalf("CELADON_CORPUS: %v", err)
		}
		if !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	return folders
}

func findCorpus(name string) (string, error) {
	if filepath.IsAbs(name) {
		_, err := os.Stat(name)
		return name, err
	}
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		folder := filepath.Join(dir, name)
		if _, err := os.Stat(folder); err == nil || dir == filepath.Dir(dir) {
			return folder, err
		}
	}
	return "", err
}

// CRDFiles returns the files with CRDs in all folders, in order. It skips the test if there are no
// such files.
func CRDFiles(t testing.TB) []string {
	t.Helper()
	var files []string
	for _, folder := range Folders(t) {
		_ = filepath.WalkDir(filepath.Join(folder, "crds"), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(path) == ".yaml" {
				files = append(files, path)
			}
			return nil // a folder may contain only cases
		})
	}
	if len(files) == 0 {
		t.Skip("CELADON_CORPUS names no folder with CRDs")
	}
	return files
}

// Largest returns the largest of the files.
func Largest(t testing.TB, files []string) string {
	t.Helper()
	largest, size := "", int64(-1)
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > size {
			largest, size = file, info.Size()
		}
	}
	return largest
}

// ReadCRD returns the CRD in a file that contains only that CRD.
func ReadCRD(t testing.TB, file string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(data, crd); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return crd
}
