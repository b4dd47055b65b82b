package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/testing/brokencrd"
	"github.com/celadon-cel/celadon/internal/testing/cputime"
)

// maxVetTurns limits the turns, because a turn takes minutes. Minimum times need fewer turns.
const maxVetTurns = 3

// printVet measures the admission of the largest CRDs. The time for rules is the total minus the
// time for the same CRD without rules.
func printVet(out report, turns, vetted int) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	crds, err := largestCRDs(vetted)
	if err != nil {
		return err
	}
	var sum vetTimes
	for _, crd := range crds {
		t, err := timeVet(crd, turns)
		if err != nil {
			return fmt.Errorf("%s: %w", crd.Name, err)
		}
		t.print(out.detail, crd.Name)
		sum.add(t)
	}
	for _, row := range []struct {
		name         string
		theirs, ours time.Duration
	}{
		{"a verdict", sum.theirs, sum.ours},
		{"a verdict, only rules", sum.theirs - sum.theirsBare, sum.ours - sum.oursBare},
		{"the full report", sum.theirs, sum.report},
	} {
		fmt.Fprintf(out.kept, "%-30s %.1fx\n", row.name, float64(row.theirs)/float64(row.ours))
	}
	fmt.Fprintf(out.kept, "(%d CRDs with %d rules)\n", len(crds), sum.rules)
	return nil
}

// vetTimes holds the processor times of both sides, for CRDs with rules and for the same CRDs
// without rules.
type vetTimes struct {
	rules                  int
	theirs, theirsBare     time.Duration
	ours, oursBare, report time.Duration
}

func (t *vetTimes) add(o *vetTimes) {
	t.rules += o.rules
	t.theirs += o.theirs
	t.theirsBare += o.theirsBare
	t.ours += o.ours
	t.oursBare += o.oursBare
	t.report += o.report
}

// ofRules returns our time for rules as a fraction of upstream's.
func (t *vetTimes) ofRules() float64 { return portion(t.ours-t.oursBare, t.theirs-t.theirsBare) }

// ofTotal returns our total time as a fraction of upstream's. ofReport includes the time for
// explanations, advice, versions, and lints, which upstream does not have.
func (t *vetTimes) ofTotal() float64  { return portion(t.ours, t.theirs) }
func (t *vetTimes) ofReport() float64 { return portion(t.report, t.theirs) }

func portion(ours, theirs time.Duration) float64 { return float64(ours) / float64(theirs) }

func (t *vetTimes) print(out io.Writer, name string) {
	fmt.Fprintf(out, "%-62.62s vet %4d rules  of upstream's time: on rules %.3f  in all %.3f  with the report %.3f\n", name, t.rules, t.ofRules(), t.ofTotal(), t.ofReport())
}

func timeVet(crd *apiextensionsv1.CustomResourceDefinition, turns int) (*vetTimes, error) {
	t, bare := &vetTimes{}, crd.DeepCopy()
	brokencrd.EachSchema(bare, func(s *apiextensionsv1.JSONSchemaProps) {
		t.rules += len(s.XValidations)
		s.XValidations = nil
	})
	var err error
	ours := func(crd *apiextensionsv1.CustomResourceDefinition, cfg vet.Config) func() {
		return func() {
			if _, e := vet.VetCRD(context.Background(), crd, cfg); e != nil {
				err = e
			}
		}
	}
	theirs := func(crd *apiextensionsv1.CustomResourceDefinition) func() {
		return func() {
			if e := validateCRD(crd); e != nil {
				err = e
			}
		}
	}
	verdict := vet.Config{VerdictOnly: true}
	best := minTimes(turns, theirs(crd), theirs(bare), ours(crd, verdict), ours(bare, verdict), ours(crd, vet.Config{}))
	t.theirs, t.theirsBare, t.ours, t.oursBare, t.report = best[0], best[1], best[2], best[3], best[4]
	return t, err
}

// validateCRD runs the API server's validation of a new CRD.
func validateCRD(crd *apiextensionsv1.CustomResourceDefinition) error {
	v1, internal := crd.DeepCopy(), &apiextensions.CustomResourceDefinition{}
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(v1)
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(v1, internal, nil); err != nil {
		return err
	}
	validation.ValidateCustomResourceDefinition(context.Background(), internal)
	return nil
}

// minTimes returns the lowest processor time of each function over several turns, without garbage
// collection. The minimum is least affected by other processes.
func minTimes(turns int, list ...func()) []time.Duration {
	best := make([]time.Duration, len(list))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for turn := range turns {
		for i, f := range list {
			runtime.GC()
			start := cputime.Process()
			f()
			if took := cputime.Process() - start; turn == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	return best
}

// largestCRDs returns the n CRDs with the largest files and different names; 0 means all.
func largestCRDs(n int) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	size := map[string]int64{}
	for _, dir := range filepath.SplitList(os.Getenv("CELADON_CORPUS")) {
		paths, err := filepath.Glob(filepath.Join(dir, "crds", "*", "*.yaml"))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			info, err := os.Stat(path)
			if err != nil {
				return nil, err
			}
			size[path] = info.Size()
		}
	}
	var paths []string
	for path := range size {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(a, b)) })
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, path := range paths {
		if n > 0 && len(crds) == n {
			break
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(data, crd); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		same := func(o *apiextensionsv1.CustomResourceDefinition) bool { return o.Name == crd.Name }
		if !slices.ContainsFunc(crds, same) {
			crds = append(crds, crd)
		}
	}
	return crds, nil
}
