package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writing lists the functions of os that create or change files. Functions in inRoot are also methods of
// *os.Root, and the command uses their names for nothing else.
var (
	inRoot  = []string{"WriteFile", "Create", "OpenFile", "Mkdir", "MkdirAll"}
	writing = append([]string{"CreateTemp", "MkdirTemp", "Rename", "Symlink", "Link", "CopyFS", "Truncate"}, inRoot...)
)

// mayWrite maps the files that may use these functions to the reason.
var mayWrite = map[string]string{
	"internal/command/outfile/outfile.go":     "all output files",
	"internal/command/outfile/target.go":      "all output files",
	"internal/finding/print/json.go":          "a temporary file, in the system's folder and without a name",
	"internal/input/open.go":                  "opens for reading alone, without waiting for a pipe",
	"internal/render/render.go":               "a kustomization in a temporary folder",
	"internal/crds/source.go":                 "a git repository in a temporary folder",
	"internal/testing/clustertest/server.go":  "serves tests alone",
	"internal/testing/converter/converter.go": "is a program of tests alone",
}

// Package outfile rejects links out of the work tree.
func TestOneWriter(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains(writing, f.Sel.Name) {
				return true
			}
			from, _ := f.X.(*ast.Ident)
			if from != nil && from.Name == "outfile" || (from == nil || from.Name != "os") && !slices.Contains(inRoot, f.Sel.Name) {
				return true
			}
			name := filepath.ToSlash(path)
			used[name] = true
			if mayWrite[name] == "" {
				t.Errorf("%s: %s: write files with the package outfile", set.Position(n.Pos()), f.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range mayWrite {
		if !used[name] {
			t.Errorf("%s writes nothing: remove it from the list", name)
		}
	}
}
