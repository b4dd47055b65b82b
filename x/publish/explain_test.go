package publish

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const root = "../../"

func readCRD(t testing.TB, path string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func explained(t testing.TB, crd *apiextensionsv1.CustomResourceDefinition, line string, plain bool) (string, error) {
	t.Helper()
	f := flag.NewFlagSet("explain", flag.ContinueOnError)
	layout := Layout{Plain: plain}
	f.BoolVar(&layout.Recursive, "recursive", false, "")
	f.IntVar(&layout.MaxDepth, "max-depth", 0, "")
	apiVersion := f.String("api-version", "", "")
	name, flags, _ := strings.Cut(line, " ")
	if err := f.Parse(strings.Fields(flags)); err != nil {
		t.Fatal(err)
	}
	at, err := Find([]*apiextensionsv1.CustomResourceDefinition{crd}, name, *apiVersion)
	if err != nil {
		return "", err
	}
	return at.Explain(layout)
}

// TestExplainIsKubectls compares explanations with kubectl for the same CRD on a real server, as
// recorded by the module conformance. The plain text must be equal, and the longer text must contain
// all of its lines in the same order.
func TestExplainIsKubectls(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := readCRD(t, root+strings.TrimSpace(string(archive.Comment)))
		for _, f := range archive.Files {
			want := string(f.Data)
			got, err := explained(t, crd, f.Name, true)
			if words := rejection(want); words != "" {
				// kubectl does not find names that contain a dot, but Find does.
				if alone := strings.Contains(f.Name, "['"); alone != (err == nil) || !alone && !strings.HasPrefix(err.Error(), words) {
					t.Errorf("%s: %s: kubectl refuses with %q, and ours is %v", file, f.Name, words, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %s: %v", file, f.Name, err)
				continue
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: %s (-kubectl +ours):\n%s", file, f.Name, d)
			}
			more, err := explained(t, crd, f.Name, false)
			if missing := firstMissing(strings.Split(got, "\n"), strings.Split(more, "\n")); err != nil || missing != "" {
				t.Errorf("%s: %s: %v: the longer text lacks %q", file, f.Name, err, missing)
			}
		}
	}
}

func rejection(answer string) string {
	lines := strings.Split(strings.TrimSpace(answer), "\n")
	words, rejected := strings.CutPrefix(lines[len(lines)-1], "error: ")
	if rejected || len(lines) == 1 {
		return words
	}
	return ""
}

func firstMissing(lines, others []string) string {
	for _, line := range lines {
		for len(others) > 0 && others[0] != line {
			others = others[1:]
		}
		if len(others) == 0 {
			return line
		}
	}
	return ""
}
