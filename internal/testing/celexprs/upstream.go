package celexprs

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/celadon-cel/celadon/internal/testing/gomod"
)

// Upstream returns the strings in the tests of cel-go and of the API server's CEL packages, and the
// expressions in CEL's conformance suite, up to 3,000 bytes long and sorted. Most strings from Go
// files are not expressions.
func Upstream(t testing.TB) []string {
	t.Helper()
	texts := map[string]bool{}
	for module, folders := range map[string][]string{
		"github.com/google/cel-go":       {"parser", "checker", "cel", "ext", "interpreter"},
		"k8s.io/apiserver":               {"pkg/cel", "pkg/cel/library", "pkg/cel/environment", "pkg/cel/lazy", "pkg/cel/openapi"},
		"k8s.io/apiextensions-apiserver": {"pkg/apiserver/schema/cel", "pkg/apis/apiextensions/validation"},
	} {
		dir := gomod.Dir(t, module)
		for _, folder := range folders {
			goTexts(t, filepath.Join(dir, folder), texts)
		}
	}
	if len(texts) < 5000 {
		t.Fatalf("%d texts in Go files, want thousands", len(texts))
	}
	suite := suiteTexts(t, filepath.Join(gomod.Dir(t, "cel.dev/expr"), "tests/simple/testdata"))
	if len(suite) < 2000 {
		t.Fatalf("%d expressions in the suite, want thousands", len(suite))
	}
	for _, text := range suite {
		texts[text] = true
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(texts)), func(text string) bool { return len(text) > 3000 })
}

func goTexts(t testing.TB, folder string, to map[string]bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no tests: %v", folder, err)
	}
	for _, file := range files {
		parsed, err := goparser.ParseFile(token.NewFileSet(), file, nil, goparser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					to[text] = true
				}
			}
			return true
		})
	}
}

var suiteExpr = regexp.MustCompile(`\bexpr:((?:\s*(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))+)`)

func suiteTexts(t testing.TB, folder string) (texts []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.textproto"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range suiteExpr.FindAllSubmatch(data, -1) {
			var text wrapperspb.StringValue
			if err := prototext.Unmarshal(slices.Concat([]byte("value:"), match[1]), &text); err != nil {
				t.Fatalf("%s: %s: %v", file, match[1], err)
			}
			texts = append(texts, text.Value)
		}
	}
	return texts
}
