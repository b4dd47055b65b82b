package coverage

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

type corpusCRD struct {
	*engine.Engine
	crd   *apiextensionsv1.CustomResourceDefinition
	watch *Watch
}

// plainCount counts outcomes independently of the package, by CRD, version, path, and expression.
type plainCount struct {
	mu       sync.Mutex
	ran      map[[4]string]bool
	rejected map[[4]string]bool
}

func (c *plainCount) of(crd string, ref *engine.RuleRef) [4]string {
	return [4]string{crd, ref.Version, ref.Path, ref.Rule}
}

func (c *plainCount) observe(crd string, run engine.RuleRun) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.of(crd, run.Rule)
	c.ran[k] = true
	c.rejected[k] = c.rejected[k] || run.Outcome == engine.Rejected || run.Outcome == engine.Failed // a rule that fails rejects the write
}

func TestCorpusCoverage(t *testing.T) {
	t.Parallel()
	for _, folder := range corpus.Folders(t) {
		rec, plain := New(), &plainCount{ran: map[[4]string]bool{}, rejected: map[[4]string]bool{}}
		crds := map[string]*corpusCRD{}
		writes := 0
		for c := range corpus.Cases(t, folder) {
			for _, file := range append([]string{c.CRD}, c.Variants...) {
				crd := crds[file]
				if crd == nil {
					crd = watched(t, rec, filepath.Join(folder, file))
					crds[file] = crd
				}
				writes++
				observe := func(run engine.RuleRun) {
					crd.watch.Observe(run)
					plain.observe(filepath.Base(filepath.Dir(file))+"/"+crd.crd.Name, run)
				}
				req := engine.Request{Object: c.Object, OldObject: c.OldObject, Subresource: c.Subresource, Observe: observe}
				if _, err := crd.Validate(context.Background(), req); err != nil {
					t.Fatalf("%s: %v", c.Name, err)
				}
			}
		}
		if writes == 0 {
			continue
		}
		all, transition := map[[4]string]bool{}, 0
		for file, crd := range crds {
			for _, version := range crd.Info().Versions {
				for _, ref := range crd.Rules(version) {
					k := plain.of(filepath.Base(filepath.Dir(file))+"/"+crd.crd.Name, ref)
					all[k] = true
				}
			}
		}
		silent := 0
		for k := range all {
			if strings.Contains(k[3], "oldSelf") {
				transition++
				if !plain.rejected[k] {
					silent++
				}
			}
		}
		count := func(seen map[[4]string]bool) (n int) {
			for _, was := range seen {
				if was {
					n++
				}
			}
			return n
		}
		t.Logf("%s: %d writes; versions apart: %d rules, %.1f %% never run, %.1f %% never refuse, %d transition rules, %d never refuse", filepath.Base(folder), writes,
			len(all), 100-100*float64(count(plain.ran))/float64(len(all)), 100-100*float64(count(plain.rejected))/float64(len(all)), transition, silent)
		report := rec.Report()
		percent := func(n, of int) string { return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(max(of, 1))) }
		t.Logf("equal versions once, served ones alone: %d rules, %s ran, %s refused; %d conditions, %s both", report.Rules,
			percent(report.Ran, report.Rules), percent(report.Rejected, report.Rules), report.Conditions, percent(report.Both, report.Conditions))
		if report.Rules > len(all) || report.Ran > count(plain.ran) || report.Rejected > count(plain.rejected) {
			t.Errorf("the report counts more than there is: %d rules", report.Rules)
		}
		for _, item := range report.Items {
			holdItem(t, &item)
		}
	}
}

func holdItem(t *testing.T, item *Item) {
	t.Helper()
	if item.Ran != item.Passed+item.Rejected+item.Errors+item.Ratcheted {
		t.Errorf("%s: %s: %+v does not add up", item.CRD, item.Rule, item)
	}
	if item.Unmeasured != "" {
		t.Errorf("%s: %s: %s", item.CRD, item.Rule, item.Unmeasured)
	}
	text := []rune(item.Rule)
	for i, c := range item.Conditions {
		if c.Text == "" || c.Start >= c.End || c.End > len(text) {
			t.Errorf("%s: %s: condition %d has no place: %+v", item.CRD, item.Rule, i, c)
		}
	}
	if item.Ran > 0 && len(item.Conditions) > 0 && item.Conditions[0].True+item.Conditions[0].False+item.Conditions[0].Errors == 0 && item.Errors == 0 && !strings.Contains(item.Rule, ".all(") && !strings.Contains(item.Rule, ".exists") && !strings.Contains(item.Rule, ".map(") && !strings.Contains(item.Rule, ".filter(") {
		t.Errorf("%s: %s: ran %d times, and its first condition never", item.CRD, item.Rule, item.Ran)
	}
}

func watched(t *testing.T, rec *Recorder, file string) *corpusCRD {
	t.Helper()
	crd := corpus.ReadCRD(t, file)
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := rec.Watch(crd, e)
	if err != nil {
		t.Fatal(err)
	}
	return &corpusCRD{Engine: e, crd: crd, watch: w}
}
