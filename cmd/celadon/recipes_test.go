package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/internal/text/phrase"
)

const recipesPage, recipesFolder = "../../docs/recipes.md", "../../examples/recipes"

type recipe struct {
	name           string
	title, summary string // from the first line of the CRD
	crd, suite     string
	cases          int
	cost           uint64
	versions       []string        // the Kubernetes versions, the oldest first
	accepted       map[string]bool // the versions that accept the CRD
	from           string          // the oldest version from which all cases pass
}

func TestRecipes(t *testing.T) {
	t.Parallel()
	all := readRecipes(t)
	testRecipes(t, all)
	tryMinors(t, all)
	page, err := os.ReadFile(recipesPage)
	if err != nil {
		t.Fatal(err)
	}
	want := recipePage(t, string(page), all)
	if *update {
		if err := os.WriteFile(recipesPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(page)); diff != "" {
		t.Errorf("%s differs (-want +got; -update rewrites it):\n%s", recipesPage, diff)
	}
}

func readRecipes(t *testing.T) (all []*recipe) {
	t.Helper()
	out, code := run(t, "vet", "-o", "json", "--find", recipesFolder)
	var report struct {
		CRDs []struct {
			File         string
			Lints        []struct{ Name, Message string }
			Warnings     []string
			Versions     []struct{ EstimatedCost uint64 }
			KubeVersions []struct {
				Version  string
				Accepted bool
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 0 {
		t.Fatalf("vet: exit code %d, %v", code, err)
	}
	for _, vetted := range report.CRDs {
		folder := filepath.Dir(vetted.File)
		r := &recipe{
			name: filepath.Base(folder), crd: readText(t, vetted.File), suite: readText(t, filepath.Join(folder, "suite.yaml")),
			cost: vetted.Versions[0].EstimatedCost, accepted: map[string]bool{},
		}
		first, _, _ := strings.Cut(r.crd, "\n")
		r.title, r.summary, _ = strings.Cut(strings.TrimSuffix(strings.TrimPrefix(first, "# "), "."), ": ")
		if slug := strings.ReplaceAll(strings.ToLower(r.title), " ", "-"); slug != r.name {
			t.Errorf("%s: the first line begins with %q", r.name, r.title)
		}
		if len(vetted.Lints)+len(vetted.Warnings) > 0 {
			t.Errorf("%s: vet reports %v %v", r.name, vetted.Lints, vetted.Warnings)
		}
		for _, v := range vetted.KubeVersions {
			r.versions, r.accepted[v.Version] = append(r.versions, v.Version), v.Accepted
		}
		all = append(all, r)
	}
	return all
}

func testRecipes(t *testing.T, all []*recipe) {
	t.Helper()
	schema := schemaOf(t, "rule-test")
	for _, r := range all {
		suite, err := yaml.YAMLToJSON([]byte(r.suite))
		if err != nil {
			t.Fatal(err)
		}
		holds(t, r.name, schema, suite)
	}
	out, code := run(t, "test", "-o", "json", "--cover", "--mutate", recipesFolder)
	var report struct {
		Suites []struct {
			Name  string
			Cases []any
		}
		Coverage struct {
			Rules, Ran, Conditions, Both int
			Rejected                     int `json:"refused"`
		}
		Mutation struct {
			Survivors []struct {
				CRD, Rule, Mutant string
				Index             int
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 0 {
		t.Fatalf("test: exit code %d, %v\n%s", code, err, out)
	}
	if c := report.Coverage; c.Ran != c.Rules || c.Rejected != c.Rules || c.Both != c.Conditions || c.Rules == 0 {
		t.Errorf("the suites do not cover all rules and conditions: %+v", c)
	}
	for _, m := range report.Mutation.Survivors {
		if m.Index >= 0 { // not a bound of the schema
			t.Errorf("%s: no case detects %s instead of %s", m.CRD, m.Mutant, m.Rule)
		}
	}
	for _, s := range report.Suites {
		i := slices.IndexFunc(all, func(r *recipe) bool { return r.name == s.Name })
		if i < 0 || len(report.Suites) != len(all) {
			t.Fatalf("%d suites, %d recipes; suite %s", len(report.Suites), len(all), s.Name)
		}
		all[i].cases = len(s.Cases)
	}
}

func tryMinors(t *testing.T, all []*recipe) {
	t.Helper()
	open := slices.Clone(all) // passed in all newer versions
	for _, version := range slices.Backward(all[0].versions) {
		files := map[string]string{}
		for _, r := range open {
			if r.accepted[version] {
				files[r.name+"/crd.yaml"] = r.crd
				files[r.name+"/suite.yaml"] = fmt.Sprintf("kubeVersions: [%q]\n%s", version, r.suite)
			}
		}
		dir := t.TempDir()
		plant(t, dir, files)
		passed := passedSuites(t, dir)
		open = slices.DeleteFunc(open, func(r *recipe) bool {
			if passed[r.name] {
				r.from = version
			}
			return !passed[r.name]
		})
	}
	for _, r := range all {
		if r.from == "" {
			t.Errorf("%s: the newest Kubernetes version does not pass", r.name)
		}
	}
}

func passedSuites(t *testing.T, dir string) map[string]bool {
	t.Helper()
	out, _ := run(t, "test", "-o", "json", dir)
	var report struct {
		Suites []struct {
			Name   string
			Errors []any
			Cases  []struct{ Outcome string }
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	passed := map[string]bool{}
	for _, s := range report.Suites {
		passed[s.Name] = len(s.Errors) == 0
		for _, c := range s.Cases {
			passed[s.Name] = passed[s.Name] && c.Outcome == "passed"
		}
	}
	return passed
}

func recipePage(t *testing.T, page string, all []*recipe) string {
	t.Helper()
	const head = "| Requirement | Recipe | Cost | From |\n|---|---|---|---|\n"
	top, rest, _ := strings.Cut(page, head)
	oldest, newest := all[0].versions[0], all[0].versions[len(all[0].versions)-1]
	if !strings.Contains(top, "in Kubernetes "+newest+".") || !strings.Contains(top, "knows is "+oldest+".") {
		t.Errorf("%s: want Kubernetes %s and %s before the table", recipesPage, oldest, newest)
	}
	_, rest, ok := strings.Cut(rest, "\n\n")
	sections := strings.Split(rest, "\n### ")
	if !ok || len(sections) != len(all)+1 {
		t.Fatalf("%s: %d sections with recipes, want %d after a table with the head %q", recipesPage, len(sections)-1, len(all), head)
	}
	var table strings.Builder
	for i, section := range sections[1:] {
		title, _, _ := strings.Cut(section, "\n")
		at := slices.IndexFunc(all, func(r *recipe) bool { return r.title == title })
		if at < 0 {
			t.Fatalf("%s: no recipe begins with %q", recipesPage, title)
		}
		r := all[at]
		fmt.Fprintf(&table, "| %s | [%s](#%s) | %s | %s |\n", r.summary, r.title, r.name, phrase.Number(r.cost), r.from)
		sections[i+1] = r.section(t, section)
	}
	return top + head + table.String() + "\n" + strings.Join(sections, "\n### ")
}

func (r *recipe) section(t *testing.T, section string) string {
	t.Helper()
	for _, block := range yamlBlocks(section) {
		if !strings.Contains(undented(r.crd), undented(block)) {
			t.Errorf("%s: this is not a part of its CRD:\n%s", r.title, block)
		}
	}
	before, after, ok := strings.Cut(section, "\nEstimated cost")
	_, after, more := strings.Cut(after, "\n")
	if !ok || !more || len(yamlBlocks(before)) == 0 {
		t.Errorf("%s: want YAML, and then a line that begins with Estimated cost", r.title)
	}
	folder := "examples/recipes/" + r.name
	return before + fmt.Sprintf("\nEstimated cost %s, from Kubernetes %s: [CRD](../%s/crd.yaml), [%d cases](../%s/suite.yaml)\n",
		phrase.Number(r.cost), r.from, folder, r.cases, folder) + after
}

func yamlBlocks(section string) (blocks []string) {
	for _, rest := range strings.Split(section, "\n```yaml\n")[1:] {
		block, _, _ := strings.Cut(rest, "```")
		blocks = append(blocks, block)
	}
	return blocks
}

func undented(s string) string {
	return regexp.MustCompile(`(?m)^ +`).ReplaceAllString(s, "")
}

func readText(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
