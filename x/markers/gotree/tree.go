package gotree

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"

	"github.com/celadon-cel/celadon/x/markers"
)

// Config holds the file systems for Open.
type Config struct {
	// Repository is the only file system from which files of the tree are read.
	Repository fs.FS
	// Cache is the module cache at GOMODCACHE, or nil.
	Cache fs.FS
	// Name maps a file of the repository to its name in messages and positions. If nil, the path in
	// the repository is used. CacheName is the name of the cache's folder.
	Name      func(file string) string
	CacheName string
}

// Tree reads the Go files of a repository. It is not safe for concurrent use.
type Tree struct {
	repository, cache fs.FS
	name              func(string) string
	cacheName         string
	module            *goMod
	at                string // the module's folder
	local             map[string]string
	bad               []Bad
	files             int
	bytes             int64
}

// Bad is a file that could not be read.
type Bad struct {
	Name string
	Err  error
}

// ErrNoModule means that neither a folder nor any of its parents has a go.mod file.
var ErrNoModule = errors.New("no go.mod here or above: want a Go module")

// Open finds the module that contains a folder of the repository.
func Open(cfg Config, dir string) (*Tree, error) {
	t := &Tree{repository: cfg.Repository, cache: cfg.Cache, name: cfg.Name, cacheName: cfg.CacheName, local: map[string]string{}}
	for at := dir; ; at = path.Dir(at) {
		m, err := t.readMod(path.Join(at, "go.mod"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.display(path.Join(at, "go.mod")), err)
		}
		if m != nil && m.module != "" {
			t.module, t.at = m, at
			t.local[m.module] = at
			break
		}
		if at == "." {
			return nil, ErrNoModule
		}
	}
	err := t.workspace()
	t.addReplacements()
	return t, err
}

func (t *Tree) display(name string) string {
	if t.name == nil || path.IsAbs(name) {
		return name
	}
	return t.name(name)
}

func (t *Tree) addReplacements() {
	for old := range t.module.replaces {
		module, _, _ := strings.Cut(old, "@")
		if by, ok := t.module.replacement(module); ok && by.version == "" && t.local[module] == "" {
			t.local[module] = by.path
		}
	}
}

func (t *Tree) workspace() error {
	for at := t.at; ; at = path.Dir(at) {
		work, err := t.readMod(path.Join(at, "go.work"))
		if err != nil {
			return fmt.Errorf("%s: %w", t.display(path.Join(at, "go.work")), err)
		}
		if work == nil {
			if at == "." {
				return nil
			}
			continue
		}
		for _, use := range work.uses {
			dir := path.Join(at, use)
			if m, err := t.readMod(path.Join(dir, "go.mod")); err == nil && m != nil && m.module != "" {
				t.local[m.module] = dir
			}
		}
		for old := range work.replaces {
			module, _, _ := strings.Cut(old, "@")
			maps.DeleteFunc(t.module.replaces, func(own string, _ replace) bool { return own == module || strings.HasPrefix(own, module+"@") })
		}
		maps.Copy(t.module.replaces, work.replaces)
		return nil
	}
}

// Module returns the path of the module and its folder in the repository.
func (t *Tree) Module() (importPath, dir string) { return t.module.module, t.at }

// Bad returns the files that could not be read.
func (t *Tree) Bad() []Bad { return t.bad }

// Packages reads the packages in a folder of the module and below it, as go list finds them for dir/...: without
// folders that begin with . or _, testdata, vendor, other modules, and symbolic links to folders.
func (t *Tree) Packages(dir string) ([]markers.File, error) {
	for at := dir; at != t.at; at = path.Dir(at) {
		if at == "." || t.hasMod(at) {
			return nil, fmt.Errorf("not in the module %s: vet one module at a time", t.module.module)
		}
	}
	return t.packages(dir, 0)
}

func (t *Tree) packages(dir string, depth int) ([]markers.File, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%s: folders more than %d deep", t.display(dir), maxDepth)
	}
	list, err := folder(t.repository, dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.display(dir), err)
	}
	files, err := t.goFiles(t.repository, dir, t.display(dir), list)
	if err != nil {
		return nil, err
	}
	for i := range files {
		files[i].Package = t.importPath(dir)
	}
	for _, e := range list {
		below := path.Join(dir, e.Name())
		if !e.IsDir() || skipped(e.Name()) || t.hasMod(below) {
			continue
		}
		more, err := t.packages(below, depth+1)
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return files, nil
}

func (t *Tree) importPath(dir string) string {
	if t.at != "." {
		dir = strings.TrimPrefix(dir, t.at)
	}
	return path.Join(t.module.module, dir)
}

func skipped(name string) bool {
	return name[0] == '.' || name[0] == '_' || name == "testdata" || name == "vendor"
}

func (t *Tree) hasMod(dir string) bool {
	_, err := fs.Stat(t.repository, path.Join(dir, "go.mod"))
	return err == nil
}
