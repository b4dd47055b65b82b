package conformance

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

// historyVariable names the environment variable with a folder of CRD releases, as group/release.
const historyVariable = "CELADON_HISTORY"

func TestUpgrades(t *testing.T) {
	pairs := [][2]string{
		{"../examples/crontab/crd.yaml", "../examples/crontab-next/crd.yaml"},
		{"../cmd/celadon/testdata/diff/beta.yaml", "../cmd/celadon/testdata/diff/both.yaml"},
	}
	history := upgrades(t)
	if !level.Long() {
		history = history[:min(4, len(history))]
	}
	s := startServer(t)
	claims, rejected := 0, 0
	for _, pair := range append(pairs, history...) {
		done, err := s.Upgrade(t.Context(), corpus.ReadCRD(t, pair[0]), corpus.ReadCRD(t, pair[1]))
		if err != nil {
			t.Errorf("%s to %s: %v", pair[0], pair[1], err)
		}
		claims, rejected = claims+done.claims, rejected+done.rejectedUpdates
	}
	t.Logf("%d breaks of %d upgrades replayed; %d updates of a CRD are rejected", claims, len(pairs)+len(history), rejected)
	if claims == 0 {
		t.Error("no break was replayed")
	}
}

// A pair consists of files with the same name in consecutive releases.
func upgrades(t *testing.T) (pairs [][2]string) {
	t.Helper()
	if os.Getenv(historyVariable) == "" {
		return nil
	}
	groups, _ := filepath.Glob(filepath.Join(os.Getenv(historyVariable), "*"))
	for _, group := range groups {
		releases, _ := filepath.Glob(filepath.Join(group, "v*"))
		slices.SortFunc(releases, func(a, b string) int {
			x, err := version.MustParseSemantic(filepath.Base(a)).Compare(filepath.Base(b))
			if err != nil {
				t.Fatal(err)
			}
			return x
		})
		for i := range releases {
			if i == 0 {
				continue
			}
			files, _ := filepath.Glob(filepath.Join(releases[i-1], "*.yaml"))
			for _, file := range files {
				next := filepath.Join(releases[i], filepath.Base(file))
				if _, err := os.Stat(next); err == nil && corpus.ReadCRD(t, file).Kind == "CustomResourceDefinition" {
					pairs = append(pairs, [2]string{file, next})
				}
			}
		}
	}
	return pairs
}
