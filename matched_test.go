package celadon_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const matchedFile = "testdata/matched_texts.txt"

// words matches text that looks like a message: two words in lower case, or the end of a message before a detail.
var words = regexp.MustCompile(`[a-z]{2,}'? [a-z]{2,}|[a-z]{2,} [a-z]+: $`)

// Code may search texts only for words of other projects, not for ours, so that a better message never
// changes a program. Our findings have codes and fields.
func TestMatchedTexts(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "git", "ls-files", "*.go").Output()
	if err != nil {
		t.Skip("not a checkout")
	}
	var found []string
	for _, path := range strings.Fields(string(out)) {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "conformance/") || strings.HasPrefix(path, "tools/") || strings.Contains(path, "testing/") {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			found = append(found, matchedTexts(t, path)...)
		}
	}
	slices.Sort(found)
	got := strings.Join(slices.Compact(found), "\n") + "\n"
	if *update {
		if err := os.WriteFile(matchedFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(matchedFile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(got) {
		if !strings.Contains(string(want), line) {
			t.Errorf("code depends on words: %sgive what it recognizes a code or a field; for words of another project, run go test . -run TestMatchedTexts -update", line)
		}
	}
	if string(want) != got && !t.Failed() {
		t.Errorf("%s has texts that no code searches for: run go test . -run TestMatchedTexts -update", matchedFile)
	}
}

var searches = []string{
	"Contains", "HasPrefix", "HasSuffix", "CutPrefix", "CutSuffix", "TrimPrefix", "TrimSuffix", "Cut", "Index", "LastIndex", "EqualFold", "Split", "SplitN", "Count",
}

// Each text follows the file's folder. matchedTexts also finds the constants of the file.
func matchedTexts(t *testing.T, path string) (found []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok || general.Tok != token.CONST {
			continue
		}
		for _, spec := range general.Specs {
			for i, value := range spec.(*ast.ValueSpec).Values {
				texts[spec.(*ast.ValueSpec).Names[i].Name] = literal(value, nil)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !isSearch(call.Fun) {
			return true
		}
		for _, arg := range call.Args {
			if text := literal(arg, texts); words.MatchString(text) {
				found = append(found, fmt.Sprintf("%s %q", filepath.ToSlash(filepath.Dir(path)), text))
			}
		}
		return true
	})
	return found
}

func isSearch(fun ast.Expr) bool {
	f, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, _ := f.X.(*ast.Ident)
	switch {
	case of == nil:
		return false
	case of.Name == "strings" || of.Name == "bytes":
		return slices.Contains(searches, f.Sel.Name)
	}
	return of.Name == "regexp" && strings.HasPrefix(f.Sel.Name, "MustCompile") || of.Name == "lazy" && f.Sel.Name == "New"
}

// Parts that are not constant count as "".
func literal(e ast.Expr, texts map[string]string) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.BinaryExpr:
		return literal(e.X, texts) + literal(e.Y, texts)
	case *ast.Ident:
		return texts[e.Name]
	case *ast.CallExpr: // []byte("…")
		if len(e.Args) == 1 {
			return literal(e.Args[0], texts)
		}
	}
	return ""
}
