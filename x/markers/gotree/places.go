package gotree

import (
	"cmp"
	"errors"
	"go/build"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Root returns dir or its nearest parent that contains a go.mod file.
func Root(dir string) (string, error) {
	if root := nearest(dir, "go.mod"); root != "" {
		return root, nil
	}
	return "", ErrNoModule
}

// Top returns dir or its nearest parent that is the root of a git repository. Without such a folder, it returns dir.
func Top(dir string) string { return cmp.Or(nearest(dir, ".git"), dir) }

func nearest(dir, name string) string {
	for {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
}

// ModuleCache returns the folder of the module cache according to the environment. It ignores
// configuration files of the go command and of the tree. It returns "" if the folder is unknown.
func ModuleCache() string {
	if dir := os.Getenv("GOMODCACHE"); dir != "" {
		return dir
	}
	list := filepath.SplitList(build.Default.GOPATH)
	if len(list) == 0 {
		return ""
	}
	return filepath.Join(list[0], "pkg", "mod")
}

// crdFolders are the folders in which generators usually create CRDs.
var crdFolders = []string{"config/crd", "manifests", "payload-manifests"}

// ErrNoCRDs means that the usual folders do not exist.
var ErrNoCRDs = errors.New("no CRDs in " + strings.Join(crdFolders, ", "))

// CRDFolders returns the existing folders among crdFolders, in the module or else in the repository. It returns
// ErrNoCRDs if it finds no folder.
func (t *Tree) CRDFolders() (found []string, err error) {
	for _, dir := range []string{t.at, "."} {
		for _, name := range crdFolders {
			at := path.Join(dir, name)
			if info, err := fs.Stat(t.repository, at); err == nil && info.IsDir() {
				found = append(found, at)
			}
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, ErrNoCRDs
}
