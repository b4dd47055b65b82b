package gotree

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/celadon-cel/celadon/x/markers"
)

// Import reads a package that is imported by a package of the module.
func (t *Tree) Import(importPath string) ([]markers.File, error) {
	dir, local := t.localFolder(importPath)
	if local && fs.ValidPath(dir) {
		return t.one(t.repository, dir, t.display(dir))
	}
	vendored := path.Join(t.at, "vendor", importPath)
	if info, err := fs.Stat(t.repository, vendored); err == nil && info.IsDir() {
		return t.one(t.repository, vendored, t.display(vendored))
	}
	if local {
		return nil, fmt.Errorf("%s is not in the repository", t.display(dir))
	}
	module, version, rest := t.provider(importPath)
	if module == "" {
		return nil, errors.New("no module in go.mod provides this package: run go mod tidy")
	}
	if t.cache == nil {
		return nil, fmt.Errorf("module %s %s: no module cache: set GOMODCACHE", module, version)
	}
	dir = path.Join(escape(module)+"@"+escape(version), rest)
	if _, err := fs.Stat(t.cache, dir); err != nil {
		return nil, fmt.Errorf("module %s %s is not in the module cache: run go mod download %s", module, version, module)
	}
	return t.one(t.cache, dir, filepath.Join(t.cacheName, filepath.FromSlash(dir)))
}

func (t *Tree) localFolder(importPath string) (dir string, ok bool) {
	longest := -1
	for module, at := range t.local {
		if rest, in := inModule(importPath, module); in && len(module) > longest {
			longest, dir, ok = len(module), path.Join(at, rest), true
		}
	}
	return dir, ok
}

func (t *Tree) provider(importPath string) (module, version, rest string) {
	longest := -1
	for required, v := range t.module.requires {
		r, in := inModule(importPath, required)
		if !in || len(required) <= longest {
			continue
		}
		longest, module, version, rest = len(required), required, v, r
		if by, ok := t.module.replacement(required); ok && by.version != "" {
			module, version = by.path, by.version
		}
	}
	return module, version, rest
}

func (t *Tree) one(of fs.FS, dir, name string) ([]markers.File, error) {
	list, err := folder(of, dir)
	if err != nil {
		return nil, err
	}
	return t.goFiles(of, dir, name, list)
}
