package vet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
	"github.com/celadon-cel/celadon/x/markers"
	"github.com/celadon-cel/celadon/x/markers/gotree"
)

const dots = "/..."

// goPatterns returns the folders of Go packages, or nil if the arguments are CRDs.
func goPatterns(paths []string) (dirs []string, err error) {
	for _, p := range paths {
		if dir, ok := strings.CutSuffix(filepath.ToSlash(p), dots); ok {
			dirs = append(dirs, filepath.FromSlash(dir))
		}
	}
	if len(dirs) > 0 && len(dirs) < len(paths) {
		return nil, fmt.Errorf("%s: want either CRDs or Go packages (%s): pass CRDs that were generated from Go packages with --crd", strings.Join(paths, ", "), dots[1:])
	}
	return dirs, nil
}

type goSource struct {
	*markers.Source
	tree  *gotree.Tree
	files int
	// top is the repository's folder. here is the working directory, or "" if the user gave
	// absolute paths.
	top, here string
	roots     []*os.Root
}

func (g *goSource) open(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err == nil {
		g.roots = append(g.roots, root)
	}
	return root, err
}

func (g *goSource) close() {
	for _, root := range g.roots {
		_ = root.Close()
	}
}

// readGo parses the packages in folders of a module. Access is confined to the repository of the module and
// the module cache, including symbolic links, and the go command is never run. texts holds unsaved contents
// by file name; they replace the contents on disk.
func readGo(dirs []string, texts map[string][]byte) (_ *goSource, err error) {
	g, err := locate(dirs[0])
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", dirs[0], dots, err)
	}
	defer func() {
		if err != nil {
			g.close()
		}
	}()
	root, err := g.open(g.top)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.top, input.WithoutPath(err))
	}
	cfg := gotree.Config{Repository: input.Below(root), Name: g.name, CacheName: gotree.ModuleCache()}
	if cfg.CacheName != "" {
		if cache, err := g.open(cfg.CacheName); err == nil {
			cfg.Cache = input.Below(cache)
		}
	}
	var files []markers.File
	for i, dir := range dirs {
		rel, err := g.relative(dir)
		if err == nil && i == 0 {
			g.tree, err = gotree.Open(cfg, rel)
		}
		var more []markers.File
		if err == nil {
			more, err = g.tree.Packages(rel)
		}
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", dir, dots, err)
		}
		if len(more) == 0 {
			return nil, fmt.Errorf("%s%s: no Go files: want packages with API types", dir, dots)
		}
		files = append(files, more...)
	}
	g.files = len(files)
	g.Source = markers.Parse(unsaved(files, texts), markers.Config{Import: func(path string) ([]markers.File, error) {
		files, err := g.tree.Import(path)
		return unsaved(files, texts), err
	}})
	return g, nil
}

func unsaved(files []markers.File, texts map[string][]byte) []markers.File {
	for i := range files {
		if text, ok := texts[files[i].Name]; ok {
			files[i].Text = text
		}
	}
	return files
}

// locate finds the repository of a folder: the top of its work tree, or else the nearest folder
// with a go.mod.
func locate(dir string) (*goSource, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, errors.New("no such folder")
	}
	here, err := resolved(".")
	if err != nil {
		return nil, err
	}
	at, err := resolved(dir)
	if err != nil {
		return nil, err
	}
	top, err := worktree.Top(at)
	if top == "" && err == nil {
		top, err = gotree.Root(at)
	}
	if filepath.IsAbs(dir) {
		here = ""
	}
	return &goSource{top: top, here: here}, err
}

func resolved(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	return path, err
}

func (g *goSource) crdFolders() ([]string, error) {
	folders, err := g.tree.CRDFolders()
	return pathsOf(folders, g.name), err
}

// name returns the path of a file in the repository as the user would write it.
func (g *goSource) name(file string) string {
	file = filepath.Join(g.top, filepath.FromSlash(file))
	if rel, err := filepath.Rel(g.here, file); g.here != "" && err == nil {
		return rel
	}
	return file
}

func (g *goSource) relative(dir string) (string, error) {
	dir, err := resolved(dir)
	if err != nil {
		return "", input.WithoutPath(err)
	}
	rel, err := filepath.Rel(g.top, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return "", errors.New("not in the repository of the other packages: vet each repository separately")
	}
	return filepath.ToSlash(rel), nil
}
