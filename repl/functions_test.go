package repl

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/assist"
)

var update = flag.Bool("update", false, "rewrite golden files")

const functionTexts = "../x/assist/functions.txt"

func TestFunctionExamples(t *testing.T) {
	t.Parallel()
	results := map[string]string{}
	for _, entry := range assist.FunctionIndex() {
		for i, example := range entry.Examples {
			got := evaluated(t, "", example.Expr)
			results[example.Expr] = got
			if want := fmt.Sprintf("%s, cost %d", example.Value, example.Cost); got != want && !*update {
				t.Errorf("%s: %s is %s, want %s (-update rewrites)", entry.Name, example.Expr, got, want)
			}
			inEachVersion(t, entry, example, i == 0)
		}
	}
	if *update {
		writeResults(t, results)
	}
}

// If always is set, the example must compile in each version that has the function. Costs may differ between versions.
func inEachVersion(t *testing.T, entry assist.FunctionEntry, example assist.Example, always bool) {
	t.Helper()
	f := &assist.Functions{}
	for _, v := range types.Versions() {
		known := slices.Contains(f.Names(nil, v.String()), entry.Name)
		if operator := slices.Contains(entry.Groups, "operators"); !known && (!operator || v.Minor < 29) {
			continue
		}
		got := evaluated(t, v.String(), example.Expr)
		if !strings.HasPrefix(got, example.Value+", cost ") && (always || !strings.Contains(got, "undeclared reference") && !strings.Contains(got, "no matching overload")) {
			t.Errorf("%s in %s: %s is %s, want %s", entry.Name, v, example.Expr, got, example.Value)
		}
	}
}

func evaluated(t *testing.T, kube, src string) string {
	t.Helper()
	s, err := NewSession(Config{KubeVersion: kube})
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Eval(context.Background(), src)
	if err == nil {
		err = a.Err
	}
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("%s, cost %d", a.Value, a.Cost)
}

// writeResults writes the results below the examples in functions.txt.
func writeResults(t *testing.T, results map[string]string) {
	t.Helper()
	old, err := os.ReadFile(functionTexts)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(old)) {
		if strings.HasPrefix(line, "= ") {
			continue
		}
		b.WriteString(line)
		if src, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "> "); ok {
			fmt.Fprintf(&b, "= %s\n", results[src])
		}
	}
	if err := os.WriteFile(functionTexts, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
