package policyvet_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/policyvet"
)

var update = flag.Bool("update", false, "rewrite testdata/projects.txt")

// TestProjects compares the findings in policies of projects with testdata/projects.txt, in which each
// finding was reviewed. CELADON_POLICIES names a folder with a folder for each project.
func TestProjects(t *testing.T) {
	dir := os.Getenv("CELADON_POLICIES")
	if dir == "" {
		t.Skip("CELADON_POLICIES is not set")
	}
	projects, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, project := range projects {
		vetProject(t, &b, project)
	}
	const golden = "testdata/projects.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != b.String() {
		t.Errorf("the findings differ from %s: review them, and run with -update", golden)
	}
}

func vetProject(t *testing.T, b *strings.Builder, project string) {
	files, err := filepath.Glob(filepath.Join(project, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var docs []map[string]any
	var names []string
	var crds []*apiextensionsv1.CustomResourceDefinition
	seen := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq("\n"+string(data), "\n---") {
			text, err := yaml.YAMLToJSON([]byte(part))
			if err != nil {
				continue // a template
			}
			doc, err := engine.Decode(text)
			if err != nil {
				continue
			}
			meta, _ := doc["metadata"].(map[string]any)
			key := fmt.Sprint(doc["kind"], " ", meta["name"])
			switch {
			case seen[key]: // the same document for another way to install it
			case policyvet.IsVetted(doc):
				seen[key] = true
				docs, names = append(docs, doc), append(names, filepath.Base(file))
			case doc["kind"] == "CustomResourceDefinition":
				crd := &apiextensionsv1.CustomResourceDefinition{}
				if err := yaml.Unmarshal(text, crd); err != nil {
					t.Fatal(err)
				}
				crds = append(crds, crd)
			}
		}
	}
	s, err := policyvet.NewSchemas("", crds)
	if err != nil {
		t.Fatal(err)
	}
	reports, err := policyvet.Vet(context.Background(), docs, policyvet.Config{Schemas: s})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, r := range reports {
		counts[r.Kind]++
	}
	fmt.Fprintf(b, "# %s: %d policies, %d bindings\n", filepath.Base(project), counts["ValidatingAdmissionPolicy"], counts["ValidatingAdmissionPolicyBinding"])
	var unbound []string
	harmless := 0
	for _, r := range reports {
		at := names[r.Document] + " " + r.Name
		for _, e := range r.Errors {
			fmt.Fprintf(b, "%s: error %s: %s\n", at, e.Path, e.Message)
		}
		for _, w := range r.Warnings {
			if w.Harmless {
				harmless++
				continue
			}
			fmt.Fprintf(b, "%s: type %s: %s\n", at, w.Path, w.Message)
		}
		for _, l := range r.Lints {
			if l.Path == "" || l.Name == "no-policy" {
				unbound = append(unbound, l.Name)
				continue
			}
			fmt.Fprintf(b, "%s: %s %s: %s\n", at, l.Name, l.Path, l.Message)
		}
	}
	if harmless > 0 {
		fmt.Fprintf(b, "type warnings without effect: %d\n", harmless)
	}
	slices.Sort(unbound)
	for _, name := range slices.Compact(slices.Clone(unbound)) {
		n := 0
		for _, other := range unbound {
			if other == name {
				n++
			}
		}
		fmt.Fprintf(b, "%s: %d times\n", name, n)
	}
}
