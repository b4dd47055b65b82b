package conformance

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/celadon-cel/celadon/engine/vet"
)

func TestRecipes(t *testing.T) {
	report := NewReport("recipes")
	startServer(t).sweepRecipes(t, readRecipes(t), report)
	finish(t, report)
}

// notFirst lists recipes that reject old objects of their suites as first versions of an object: a phase other than the
// first one, and an object without an owner, which is older than its rule.
var notFirst = []string{"new-requirement", "status-transitions"}

type recipe struct {
	name  string
	crd   *CRD
	suite []byte
}

func readRecipes(t *testing.T) (all []*recipe) {
	t.Helper()
	files, err := filepath.Glob("../examples/recipes/*/crd.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v: %d recipes", err, len(files))
	}
	for _, file := range files {
		crd, err := ReadCRD(file)
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Dir(file)
		suite, err := os.ReadFile(filepath.Join(folder, "suite.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &recipe{filepath.Base(folder), crd, suite})
	}
	return all
}

func (s *Server) sweepRecipes(t *testing.T, all []*recipe, report *Report) {
	t.Helper()
	var crds []*vetCase
	var groups []*Group
	for _, r := range all {
		crds = append(crds, newVetCase(t, r.name+" crd", r.crd.Definition, nil))
		verdict, err := vet.VetCRD(t.Context(), r.crd.Definition, vet.Config{KubeVersion: s.kubeVersion})
		if err != nil {
			t.Fatal(err)
		}
		if !verdict.Accepted {
			report.Note("CRDs rejected, which need a newer version")
			continue
		}
		text := r.suite
		if s.kubeVersion != "" {
			text = slices.Concat([]byte("kubeVersions: [\""+s.kubeVersion+"\"]\n"), text)
		}
		w := &starterRun{ctx: t.Context(), crd: r.crd, report: report, group: &Group{CRD: r.crd}}
		w.run(r.name, "v1", text)
		for _, c := range w.group.Cases {
			c.Ratcheting = c.Update() && slices.Contains(notFirst, r.name)
		}
		groups = append(groups, w.group)
	}
	s.sweepCRDs(t.Context(), crds, report)
	s.Sweep(t.Context(), groups, report)
	if n := report.Noted("CRDs that the server refuses today, put into etcd"); n > 0 {
		t.Errorf("the server rejects %d CRDs", n)
	}
}
