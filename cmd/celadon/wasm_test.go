package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Compiling the WebAssembly command takes long; make site does it.
func TestWasmNames(t *testing.T) {
	t.Parallel()
	const module = "github.com/celadon-cel/celadon/"
	file, err := parser.ParseFile(token.NewFileSet(), "wasm/main.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	exported := map[string]map[string]bool{} // by the name of the package
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if rest, ok := strings.CutPrefix(path, module); ok {
			exported[filepath.Base(path)] = exportsOf(t, filepath.Join("../..", rest))
		}
	}
	if len(exported) == 0 {
		t.Fatal("the command imports no package of Celadon")
	}
	ast.Inspect(file, func(n ast.Node) bool {
		use, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if of, ok := use.X.(*ast.Ident); ok && exported[of.Name] != nil && !exported[of.Name][use.Sel.Name] {
			t.Errorf("%s.%s: no such name", of.Name, use.Sel.Name)
		}
		return true
	})
}

func exportsOf(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files (%v)", folder, err)
	}
	names := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
				names[f.Name.Name] = true
			}
		}
	}
	return names
}
