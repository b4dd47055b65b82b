package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
)

func TestUnaffected(t *testing.T) {
	t.Parallel()
	e, err := engine.Compile(crd(t, fixableCRD), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	remaining, dropped := 0, 0
	n := 6000
	if testing.Short() {
		n = 1000
	}
	for range n {
		req := engine.Request{Object: randomApp(r, true)}
		if r.IntN(3) == 0 {
			req.OldObject = randomApp(r, false)
		}
		res, err := e.Validate(t.Context(), req)
		if err != nil || res.Allowed {
			continue
		}
		names := []string{"size", "min", "max", "mode", "name", "labels", "items"}
		name := names[r.IntN(len(names))]
		rest := res.Prepared.Unaffected(res.Causes, []string{"spec." + name})
		dropped += len(res.Causes) - len(rest)
		changed := req
		changed.Object = runtime.DeepCopyJSON(req.Object)
		changed.Object["spec"].(map[string]any)[name] = randomApp(r, true)["spec"].(map[string]any)[name]
		if changed.Object["spec"].(map[string]any)[name] == nil {
			delete(changed.Object["spec"].(map[string]any), name)
		}
		after, err := e.Validate(t.Context(), changed)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(after.Causes, func(c engine.Cause) bool { return c.Field == "<nil>" }) {
			continue // the new value keeps rules from running
		}
		for _, c := range rest {
			if c.Field == "<nil>" {
				t.Fatalf("a cause without a path remains: %s", c.Message)
			}
			remaining++
			if !slices.ContainsFunc(after.Causes, func(o engine.Cause) bool { return o.Field == c.Field && o.Message == c.Message }) {
				t.Fatalf("spec.%s changed, and %s: %s is gone\nobject %v\nchanged %v\ncauses %s", name, c.Field, c.Message, req.Object, changed.Object, causesText(after.Causes))
			}
		}
	}
	t.Logf("%d causes remained, %d depended on the change", remaining, dropped)
	if remaining < n/8 || dropped < n/8 {
		t.Error("too few causes")
	}
}
