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

// Root is the nearest folder with a go.mod, from one on.
func Root(dir string) (string, error) {
	if root := nearest(dir, "go.mod"); root != "" {
		return root, nil
	}
	return "", ErrNoModule
}

// Top is the nearest folder that git keeps, from one on, or else that one.
func Top(dir string) string { return cmp.Or(nearest(dir, ".git"), dir) }

// nearest is the folder that has a thing, or that is above and has it; "" is none.
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

// ModuleCache is where go keeps modules: what the user's environment says, whatever
// files of go's own settings or of the tree say. "" is nowhere.
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

// crdFolders are where generators put CRDs.
var crdFolders = []string{"config/crd", "manifests", "payload-manifests"}

// ErrNoCRDs is for a module without any of these.
var ErrNoCRDs = errors.New("no CRDs in " + strings.Join(crdFolders, ", "))

// CRDFolders are the folders of the repository with CRDs: the module's own, or else
// the repository's.
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
