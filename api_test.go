package celadon_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/api")

// public lists the packages with a compatibility promise. There may be at most ten.
var public = []string{
	"celadontest", "cost", "engine", "engine/admission", "engine/catalog", "engine/conversion", "engine/policy", "engine/vet", "repl", "types",
}

// Run go test . -run TestAPI -update to update the files in testdata/api. Their changes show reviewers the
// changes of the API.
func TestAPI(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, name := range public {
		got := exported(t, name)
		golden := filepath.Join("testdata", "api", strings.ReplaceAll(name, "/", ".")+".txt")
		known[golden] = true
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		for _, alias := range importsOf(t, name, "github.com/google/cel-go/") {
			if use := regexp.MustCompile(`\b` + alias + `\.[A-Z]\w*`).Find(got); use != nil {
				t.Errorf("%s exports %s: only engine/x/celgo has types of cel-go", name, use)
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("the exports of %s differ from %s: if this is intended, run go test . -run TestAPI -update\n%s", name, golden, firstDifference(want, got))
		}
	}
	files, err := filepath.Glob("testdata/api/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !known[file] {
			t.Errorf("%s: no such public package", file)
		}
	}
}

func TestStability(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/versions.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range public {
		if !bytes.Contains(page, []byte("`"+name+"`")) {
			t.Errorf("docs/versions.md does not name %s", name)
		}
	}
}

func firstDifference(want, got []byte) string {
	w, g := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "was " + w[i] + "\nis  " + g[i]
		}
	}
	return "one has more than the other"
}

func importsOf(t *testing.T, name, prefix string) (aliases []string) {
	t.Helper()
	for _, f := range parsePackage(t, token.NewFileSet(), name) {
		for _, spec := range f.Imports {
			file := strings.Trim(spec.Path.Value, `"`)
			switch {
			case !strings.HasPrefix(file, prefix):
			case spec.Name != nil:
				aliases = append(aliases, spec.Name.Name)
			default:
				aliases = append(aliases, path.Base(file))
			}
		}
	}
	return aliases
}

func parsePackage(t *testing.T, files *token.FileSet, name string) (parsed []*ast.File) {
	t.Helper()
	found, err := build.ImportDir(name, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range found.GoFiles {
		f, err := parser.ParseFile(files, filepath.Join(name, file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	return parsed
}

// exported returns the declarations of a package as go doc lists them, without comments.
func exported(t *testing.T, name string) []byte {
	t.Helper()
	files := token.NewFileSet()
	p, err := doc.NewFromFiles(files, parsePackage(t, files, name), module+"/"+name)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	show := func(decl ast.Decl) {
		if err := printer.Fprint(&out, files, decl); err != nil {
			t.Fatal(err)
		}
		out.WriteByte('\n')
	}
	values := func(all []*doc.Value) {
		for _, v := range all {
			show(v.Decl)
		}
	}
	funcs := func(all []*doc.Func) {
		for _, f := range all {
			show(f.Decl)
		}
	}
	values(p.Consts)
	values(p.Vars)
	funcs(p.Funcs)
	for _, one := range p.Types {
		out.WriteByte('\n')
		show(one.Decl)
		values(one.Consts)
		values(one.Vars)
		funcs(one.Funcs)
		funcs(one.Methods)
	}
	text := spaces.ReplaceAllString(blankLines.ReplaceAllString(out.String(), "\n\t"), "$1 ")
	return []byte(strings.TrimLeft(text, "\n"))
}

// blankLines matches gaps that removed comments leave. spaces matches column alignment, which would
// change on every line if a longer name were added.
var (
	blankLines = regexp.MustCompile(`\n\n+\t`)
	spaces     = regexp.MustCompile(`(\S)\t+`)
)

func TestPackageExamples(t *testing.T) {
	t.Parallel()
	for _, name := range append([]string{"celadonvet"}, public...) {
		files, err := filepath.Glob(filepath.Join(name, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(files, func(file string) bool {
			source, err := os.ReadFile(file)
			return err == nil && bytes.Contains(source, []byte("\nfunc Example")) && bytes.Contains(source, []byte("// Output:"))
		}) {
			t.Errorf("%s has no example", name)
		}
	}
}
