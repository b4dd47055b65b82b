package verdict

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

// TestJudgedLater checks that the verdict is postponed only for small CRDs, including their comments.
func TestJudgedLater(t *testing.T) {
	t.Parallel()
	crd, err := os.ReadFile("../../../../../examples/crontab/crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	comments := strings.Repeat("#"+strings.Repeat("x", 1000)+"\n", maxKept/1000)
	for name, c := range map[string]struct {
		text string
		now  bool
	}{
		"small": {string(crd), false}, "of a part": {string(crd), true}, "large": {string(crd) + comments, true},
		"in a List": {"apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(string(crd)), "\n", "\n  ") + "\n", true},
	} {
		path := filepath.Join(t.TempDir(), "crd.yaml")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		j := &CRDReviewer{Now: name == "of a part"}
		d, err := Read(t.Context(), scanned(path), []string{path}, Use{Vet: j}, engine.Config{})
		if err != nil || len(d.Verdicts) != 1 {
			t.Fatalf("%s: %v, %d CRDs", name, err, len(d.Verdicts))
		}
		one := d.Verdicts[0]
		if (one.report != nil) != c.now {
			t.Errorf("%s: reviewed immediately: %t", name, !c.now)
		}
		if one.report == nil {
			one.report = j.review(t.Context(), one.doc)
		}
		if r := one.report; r.Bug != nil || !r.Accepted {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
