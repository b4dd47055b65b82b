package celadonvet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/x/analysis/lint"
	"github.com/celadon-cel/celadon/x/markers"
	"github.com/celadon-cel/celadon/x/markers/gotree"
	"github.com/celadon-cel/celadon/x/markers/markervet"
)

func (v *vetter) module(file string) ([]markervet.Finding, error) {
	dir, err := gotree.Root(filepath.Dir(file))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	v.mu.Lock()
	if v.modules[dir] == nil {
		v.modules[dir] = sync.OnceValues(func() ([]markervet.Finding, error) { return vetModule(dir, v.cfg) })
	}
	find := v.modules[dir]
	v.mu.Unlock()
	return find()
}

func vetModule(dir string, cfg Config) ([]markervet.Finding, error) {
	top := gotree.Top(dir)
	at, err := filepath.Rel(top, dir)
	if err != nil {
		return nil, err
	}
	at = filepath.ToSlash(at)
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	in := gotree.Config{
		Repository: root.FS(), Name: func(file string) string { return filepath.Join(top, filepath.FromSlash(file)) },
		CacheName: gotree.ModuleCache(),
	}
	if in.CacheName != "" {
		if cache, err := os.OpenRoot(in.CacheName); err == nil {
			defer cache.Close()
			in.Cache = cache.FS()
		}
	}
	tree, err := gotree.Open(in, at)
	if err != nil {
		return nil, err
	}
	files, err := tree.Packages(at)
	if err != nil {
		return nil, err
	}
	src := markers.Parse(withMarkers(files), markers.Config{Import: tree.Import})
	var paths []string
	for _, p := range cfg.CRDs {
		paths = append(paths, path.Join(at, filepath.ToSlash(p)))
	}
	if len(paths) == 0 {
		if paths, err = tree.CRDFolders(); err != nil {
			return nil, fmt.Errorf("%w: use -crd with the CRDs generated from this module", err)
		}
	}
	crds, err := readCRDs(root.FS(), paths)
	if err != nil {
		return nil, fmt.Errorf("-crd: %w", err)
	}
	ofMarkers := func(name string) bool { return slices.Contains(markers.LintNames(), name) }
	without := slices.DeleteFunc(slices.Clone(cfg.WithoutLints), ofMarkers)
	var mapped []*markervet.CRD
	for _, crd := range crds {
		if catalog.IsPatch(crd) {
			continue
		}
		report, err := vet.VetCRD(context.Background(), crd, vet.Config{KubeVersion: cfg.KubeVersion, WithoutLints: without})
		if err != nil {
			return nil, err
		}
		mapped = append(mapped, markervet.New(src, crd, report, lint.Of(report), nil))
	}
	if len(mapped) == 0 {
		return nil, errors.New("no CRDs: use -crd with the CRDs generated from this module")
	}
	found := markervet.Find(src, mapped, cfg.WithoutLints)
	return slices.DeleteFunc(found, func(f markervet.Finding) bool { return cfg.NoAdvice && f.Level == markervet.Note }), nil
}

// Packages without a marker are read only if a marked type refers to their types.
func withMarkers(files []markers.File) []markers.File {
	marked := map[string]bool{}
	for _, f := range files {
		for _, marker := range []string{"+groupName=", "+kubebuilder:", "+k8s:"} {
			if bytes.Contains(f.Text, []byte(marker)) {
				marked[f.Package] = true
			}
		}
	}
	return slices.DeleteFunc(files, func(f markers.File) bool { return !marked[f.Package] })
}

func readCRDs(repository fs.FS, paths []string) (crds []*apiextensionsv1.CustomResourceDefinition, err error) {
	for _, p := range paths {
		info, err := fs.Stat(repository, p)
		if err != nil {
			return nil, err
		}
		var more []*apiextensionsv1.CustomResourceDefinition
		switch {
		case info.IsDir():
			var below fs.FS
			if below, err = fs.Sub(repository, p); err == nil {
				more, err = catalog.ReadFS(below)
			}
		case !info.Mode().IsRegular():
			err = errors.New("not a regular file") // reading a pipe could block
		default:
			var data []byte
			if data, err = fs.ReadFile(repository, p); err == nil {
				more, err = catalog.Read(data)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		crds = append(crds, more...)
	}
	return crds, nil
}
