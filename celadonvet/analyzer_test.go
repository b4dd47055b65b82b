package celadonvet_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/celadon-cel/celadon/celadonvet"
	"github.com/celadon-cel/celadon/celadonvet/plugin"
	"sigs.k8s.io/yaml"
)

// wantFindings lists prefixes of the diagnostics for testdata/app.
var wantFindings = []string{
	`api/v1/types.go:10:6: FieldValueForbidden: Forbidden: x-kubernetes-validations estimated rule cost total`,
	`api/v1/types.go:13:2: rule-without-marker: no marker in these packages has this rule: regenerate the CRD, or write the rule where its type is declared: self.hosts.size() > 0 (apps.example.com v1 spec)`,
	`api/v1/types.go:18:69: FieldValueInvalid: rule does not compile: undefined field 'bakc' (apps.example.com v1 spec)`,
	`api/v1/types.go:23:47: FieldValueForbidden: estimated rule cost exceeds budget`,
	`api/v1/types.go:23:47: unique-list: x-kubernetes-list-type: set on spec.hosts rejects duplicates`,
	`api/v1/types.go:24:2: advice: write // +kubebuilder:validation:MaxItems=200 above AppSpec.hosts`,
	`api/v1/types.go:24:2: advice: write // +kubebuilder:validation:items:MaxLength=512 above AppSpec.hosts`,
	`api/v1/types.go:29:59: FieldValueInvalid: rule does not compile: undeclared reference to 'porrt' (in container '') (apps.example.com v1 spec.back.port and elsewhere)`,
	`api/v1/types.go:33:4: unused-marker: the marker belongs to no type or field`,
}

// A diagnostic has the form "file:line:column: message".
func diagnostics(t *testing.T, a *analysis.Analyzer, dir string) (list []string, err error) {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax | packages.NeedModule, Dir: dir}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{a}, pkgs, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	for action := range graph.All() {
		if action.Err != nil {
			return nil, action.Err
		}
		for _, d := range action.Diagnostics {
			at := action.Package.Fset.Position(d.Pos)
			rel, err := filepath.Rel(dir, at.Filename)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, fmt.Sprintf("%s:%d:%d: %s", filepath.ToSlash(rel), at.Line, at.Column, d.Message))
			if fixes := len(d.SuggestedFixes); fixes != 1 && d.Category == "advice" || fixes != 0 && d.Category != "advice" {
				t.Errorf("%s: %d fixes", d.Message, fixes)
			}
		}
	}
	return list, nil
}

// Each string in want is a prefix of a diagnostic.
func same(t *testing.T, got, want []string) {
	t.Helper()
	for _, w := range want {
		if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, w) }) {
			t.Errorf("missing: %s", w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
}

func TestAnalyzer(t *testing.T) {
	got, err := diagnostics(t, celadonvet.New(celadonvet.Config{}), "testdata/app")
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, wantFindings)
}

func TestPlugin(t *testing.T) {
	p, err := plugin.New(map[string]any{"crd": []string{"config/crd/app.yaml"}, "no-advice": true, "no-lint": []string{"unused-marker", "rule-without-marker"}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.BuildAnalyzers()
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	got, err := diagnostics(t, all[0], "testdata/app")
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, slices.DeleteFunc(slices.Clone(wantFindings), func(s string) bool {
		return strings.Contains(s, " advice: ") || strings.Contains(s, "-marker: ")
	}))
}

func TestBadConfig(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  celadonvet.Config
		want string
	}{
		"no such folder": {celadonvet.Config{CRDs: []string{"none"}}, "-crd: "},
		"outside":        {celadonvet.Config{CRDs: []string{"../other"}}, "-crd: "},
		"no CRDs":        {celadonvet.Config{CRDs: []string{"api"}}, "no CRDs: use -crd"},
		"only patches":   {celadonvet.Config{CRDs: []string{"config/crd/patches"}}, "no CRDs: use -crd"},
		"no version":     {celadonvet.Config{KubeVersion: "x"}, "x"},
		"no lint":        {celadonvet.Config{WithoutLints: []string{"nope"}}, `lint "nope"`},
	} {
		if _, err := diagnostics(t, celadonvet.New(c.cfg), "testdata/app"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

func section(t *testing.T, begin string) string {
	t.Helper()
	page, err := os.ReadFile("../docs/go-markers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), begin)
	if !ok {
		t.Fatalf("docs/go-markers.md has no %q", begin)
	}
	rest, _, _ = strings.Cut(begin+rest, "\n```")
	return rest
}

// TestPage runs the commands in docs/go-markers.md that build and run the analyzer.
func TestPage(t *testing.T) {
	commands := strings.Split(section(t, "go build -C celadonvet "), "\n")
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(commands[0], "../bin", bin, 1))
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	for _, command := range commands[1:] {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir = "testdata/app"
		cmd.Env = append(os.Environ(), "GOFLAGS=", "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "types.go:18:69: FieldValueInvalid: rule does not compile: undefined field 'bakc'") {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
	if len(commands) != 3 {
		t.Errorf("commands: %q", commands)
	}
}

func TestPagePlugin(t *testing.T) {
	var page struct {
		Linters struct {
			Settings struct {
				Custom map[string]struct{ Settings map[string]any }
			}
		}
	}
	if err := yaml.Unmarshal([]byte(section(t, "linters:\n")), &page); err != nil {
		t.Fatal(err)
	}
	p, err := plugin.New(page.Linters.Settings.Custom["celadonvet"].Settings)
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.BuildAnalyzers()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"crd": "config/crd", "no-advice": "true"} {
		if got := all[0].Flags.Lookup(name).Value.String(); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
