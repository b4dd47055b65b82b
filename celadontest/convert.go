package celadontest

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/roundtrip"
)

// Converts tests a converter of a kind with [roundtrip.Test], and fails the test for each finding, such as
// a loss of data, with a small example object. convert receives a copy of the object, which it may modify
// and return, and the target apiVersion. An error or panic of convert is also a finding.
func (c *CRDs) Converts(t testing.TB, kind schema.GroupKind, convert func(ctx context.Context, obj map[string]any, apiVersion string) (map[string]any, error), cfg roundtrip.Config) {
	t.Helper()
	crd := c.Definition(kind)
	if crd == nil {
		t.Fatalf("celadontest: no CRD for %s", kind)
	}
	r, err := roundtrip.Test(t.Context(), crd, conversion.Func(convert), cfg)
	var unknown *engine.NotCheckedError
	if errors.As(err, &unknown) {
		t.Errorf("celadontest: %s: no result: %v", kind, err)
		return
	}
	if err != nil {
		t.Fatalf("celadontest: %s: %v", kind, err)
	}
	for _, f := range r.Findings {
		shown, err := untrusted.YAML(f.Object)
		if err != nil {
			t.Fatalf("celadontest: %v", err)
		}
		change := ""
		if f.Change != nil {
			change = "\nand in " + f.To + ": " + f.Change.String()
		}
		t.Errorf("celadontest: %s (seed %d, %d times)\n%s%s", f, r.Seed, f.Times, shown, change)
	}
	if r.More {
		t.Errorf("celadontest: %s: only the first findings are shown", kind)
	}
}
