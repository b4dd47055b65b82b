package conformance

import (
	"fmt"
	"os"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/conformance/fuzz"
	"github.com/celadon-cel/celadon/internal/testing/brokencrd"
	"github.com/celadon-cel/celadon/types"
)

const (
	// serversVariable names the environment variable with the folder of the servers of older minor
	// versions. make -C conformance servers builds them.
	serversVariable = "CELADON_SERVERS"

	minorScenarios = 160
)

func TestMinors(t *testing.T) {
	folder := os.Getenv(serversVariable)
	if folder == "" {
		t.Skip("no " + serversVariable)
	}
	programs, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range programs {
		t.Run(program.Name(), func(t *testing.T) { tryMinor(t, folder, program.Name()) })
	}
}

func tryMinor(t *testing.T, folder, kubeVersion string) {
	v, err := types.ParseVersion(kubeVersion)
	if err != nil {
		t.Fatal(err)
	}
	own, err := ReadOwn("testdata")
	if err != nil {
		t.Fatal(err)
	}
	s, err := StartMinor(folder, kubeVersion)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)

	groups := Scenarios(fuzz.NewLibraryOf(v), *firstScenario, minorScenarios)
	report := NewReport(kubeVersion + "-crds")
	s.sweepCRDs(t.Context(), crdsOf(t, groups, own), report)
	finish(t, report)

	report = NewReport(kubeVersion + "-cases")
	s.tryOwn(t.Context(), own, report, false)
	finish(t, report)

	report = NewReport(kubeVersion + "-recipes")
	s.sweepRecipes(t, readRecipes(t), report)
	finish(t, report)

	BreakRules(groups, *firstScenario)
	report = NewReport(kubeVersion + "-scenarios")
	s.Sweep(t.Context(), groups, report)
	finish(t, report)

	WithoutRules(groups)
	report = NewReport(kubeVersion + "-schemas")
	s.Sweep(t.Context(), groups, report)
	finish(t, report)
}

func crdsOf(t *testing.T, groups []*Group, own []*Own) (cases []*vetCase) {
	t.Helper()
	var all []*CRD
	for _, g := range groups {
		all = append(all, g.CRD)
	}
	for _, o := range own {
		all = append(all, o.CRD)
	}
	for i, crd := range all {
		seed := *firstScenario + uint64(i)
		create := func(id string, crd *apiextensionsv1.CustomResourceDefinition) {
			cases = append(cases, newVetCase(t, id, crd, nil))
		}
		id := strings.TrimPrefix(crd.variant(), "scenario-")
		create(id, crd.Definition)
		mutant := brokencrd.Of(crd.Definition, seed)
		create(fmt.Sprintf("%s %q", id, mutant.Changes), mutant.CRD)
		update := brokencrd.UpdateOf(crd.Definition, seed)
		cases = append(cases, newVetCase(t, fmt.Sprintf("%s update %q", id, update.Changes), update.New, update.Old))
	}
	return cases
}
