// Package corpus finds the real CRDs that tests go through. A corpus is a
// folder with CRDs below crds; CELADON_CORPUS is a list of them, as PATH is one.
package corpus

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// Folders are those that CELADON_CORPUS names; where there is none, the test is
// skipped.
func Folders(t testing.TB) []string {
	t.Helper()
	var folders []string
	for _, folder := range filepath.SplitList(os.Getenv("CELADON_CORPUS")) {
		if folder != "" {
			folders = append(folders, folder)
		}
	}
	if len(folders) == 0 {
		t.Skip("CELADON_CORPUS names no folder")
	}
	return folders
}

// CRDFiles are the files with CRDs in all folders, in order; where there is
// none, the test is skipped.
func CRDFiles(t testing.TB) []string {
	t.Helper()
	var files []string
	for _, folder := range Folders(t) {
		_ = filepath.WalkDir(filepath.Join(folder, "crds"), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(path) == ".yaml" {
				files = append(files, path)
			}
			return nil // a folder may have cases alone
		})
	}
	if len(files) == 0 {
		t.Skip("CELADON_CORPUS names no folder with CRDs")
	}
	return files
}

// Largest is the file with most bytes.
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

// ReadCRD reads a file with one CRD.
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
