package admission_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/admission"
)

func allowed(t testing.TB, set *admission.Set, size int) bool {
	t.Helper()
	d, err := set.Validate(context.Background(), create(fmt.Sprintf(`"spec":{"size":%d}`, size)))
	if err != nil {
		t.Error(err)
		return false
	}
	return d.Response.Allowed
}

func TestPutReplaceRemove(t *testing.T) {
	t.Parallel()
	set := widgetSet(t, admission.Config{})
	if allowed(t, set, 20) || !slices.Equal(set.Names(), []string{"widgets.example.com"}) {
		t.Error("not in force after Put")
	}
	if err := set.Put(widgetCRD(t, "30")); err != nil {
		t.Fatal(err)
	}
	if !allowed(t, set, 20) || allowed(t, set, 40) {
		t.Error("not in force after a second Put")
	}
	if !set.Remove("widgets.example.com") || set.Remove("widgets.example.com") {
		t.Error("Remove does not report whether it removed the CRD")
	}
	if !allowed(t, set, 40) || set.Engine(widgetKind) != nil {
		t.Error("in force after Remove")
	}
}

func TestBadUpdateLeavesTheOld(t *testing.T) {
	t.Parallel()
	noSchema := widgetCRD(t, "5")
	noSchema.Spec.Versions[0].Schema = nil
	nameless := widgetCRD(t, "5")
	nameless.Name = ""
	otherKind := widgetCRD(t, "5")
	otherKind.Name = "gizmos.example.com"
	for name, c := range map[string]struct {
		crd  *apiextensionsv1.CustomResourceDefinition
		want string
	}{
		"broken rule":   {widgetCRD(t, "sise"), "undeclared reference to 'sise'"},
		"no schema":     {noSchema, "no schema"},
		"nil":           {nil, "no CRD given"},
		"no name":       {nameless, "metadata.name: Required value"},
		"kind is taken": {otherKind, "gizmos.example.com: kind Widget.example.com is already that of CRD widgets.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := widgetSet(t, admission.Config{})
			err := set.Put(c.crd)
			var bad *admission.UpdateError
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if !allowed(t, set, 9) || allowed(t, set, 10) || len(set.Names()) != 1 {
				t.Error("the old one is not in force")
			}
		})
	}
}

func TestBrokenRulesAreTyped(t *testing.T) {
	t.Parallel()
	err := admission.NewSet(admission.Config{}).Put(widgetCRD(t, "sise"))
	var rule *engine.CompileError
	if !errors.As(err, &rule) || rule.Path != "spec.size" {
		t.Errorf("got %v", err)
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	set := widgetSet(t, admission.Config{})
	before := set.Engine(widgetKind)
	if err := set.Apply([]*apiextensionsv1.CustomResourceDefinition{widgetCRD(t, "10"), readCRD(t, "../../examples/crontab/crd.yaml")}, []string{"nothing"}); err != nil {
		t.Fatal(err)
	}
	if set.Engine(widgetKind) != before {
		t.Error("an equal CRD was compiled again")
	}
	if want := []string{"crontabs.stable.example.com", "widgets.example.com"}; !slices.Equal(set.Names(), want) {
		t.Errorf("names %q, want %q", set.Names(), want)
	}
	twice := []*apiextensionsv1.CustomResourceDefinition{widgetCRD(t, "20"), widgetCRD(t, "30")}
	if err := set.Apply(twice, []string{"crontabs.stable.example.com"}); err == nil || !strings.Contains(err.Error(), "duplicate") {
		t.Errorf("given twice: %v", err)
	}
	if len(set.Names()) != 1 || allowed(t, set, 25) {
		t.Error("the rest of the change is not in force")
	}
}

func TestRename(t *testing.T) {
	t.Parallel()
	set := widgetSet(t, admission.Config{})
	renamed := widgetCRD(t, "20")
	renamed.Name = "widgetries.example.com"
	if err := set.Apply([]*apiextensionsv1.CustomResourceDefinition{renamed}, []string{"widgets.example.com"}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(set.Names(), []string{"widgetries.example.com"}) || !allowed(t, set, 15) {
		t.Errorf("names %q", set.Names())
	}
}

func TestChangeOfKind(t *testing.T) {
	t.Parallel()
	set := widgetSet(t, admission.Config{})
	if err := set.Put(readCRD(t, "../../examples/crontab/crd.yaml")); err != nil {
		t.Fatal(err)
	}
	thief := widgetCRD(t, "20")
	thief.Spec.Group, thief.Spec.Names.Kind = "stable.example.com", "CronTab"
	if err := set.Put(thief); err == nil {
		t.Error("no error")
	}
	if len(set.Names()) != 2 || allowed(t, set, 15) || !allowed(t, set, 5) {
		t.Error("the old one is not in force")
	}
}

func TestCallerKeepsTheCRD(t *testing.T) {
	t.Parallel()
	set := admission.NewSet(admission.Config{})
	crd := widgetCRD(t, "10")
	if err := set.Put(crd); err != nil {
		t.Fatal(err)
	}
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	spec.Properties["size"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	if !allowed(t, set, 5) || allowed(t, set, 20) {
		t.Error("a change of the caller's CRD reached the set")
	}
}

// TestConcurrent is for the race detector. Each verdict must be the verdict of one of the two CRDs, or of no CRD.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	set := widgetSet(t, admission.Config{})
	crds := []*apiextensionsv1.CustomResourceDefinition{widgetCRD(t, "10"), widgetCRD(t, "20")}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				d, err := set.Validate(context.Background(), create(`"spec":{"size":15}`))
				if err != nil {
					t.Error(err)
					return
				}
				switch {
				case d.Verdict == admission.NotChecked || d.Verdict == admission.Allowed:
				case len(d.Result.Causes) == 1 && d.Result.Causes[0].Rule.Rule == "self < 10":
				default:
					t.Errorf("got %s", asJSON(d))
				}
			}
		})
	}
	for i := range 40 {
		if i%5 == 4 {
			set.Remove("widgets.example.com")
		} else if err := set.Put(crds[i%2]); err != nil {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
}

// The CRDs compile concurrently.
func TestApplyInOrder(t *testing.T) {
	t.Parallel()
	set := admission.NewSet(admission.Config{})
	var crds []*apiextensionsv1.CustomResourceDefinition
	var want []string
	for i := range 12 {
		limit := "5"
		if i%3 == 0 {
			limit = "sise"
		}
		c := widgetCRD(t, limit)
		c.Name, c.Spec.Names.Kind = fmt.Sprintf("widgets%d.example.com", i), fmt.Sprintf("Widget%d", i)
		crds = append(crds, c)
		if limit == "sise" && i > 0 { // the first is given twice, which is reported for the second occurrence
			want = append(want, c.Name)
		}
	}
	crds = append(crds, nil, crds[1], crds[0])
	want = append(want, "", crds[1].Name, crds[0].Name)
	var failed *admission.UpdateErrors
	if err := set.Apply(crds, nil); !errors.As(err, &failed) {
		t.Fatalf("got %v", err)
	}
	var got []string
	for _, e := range failed.Errors {
		got = append(got, e.Name)
	}
	if !slices.Equal(got, want) || len(set.Names()) != 7 {
		t.Errorf("got errors of %v, want %v; in force: %v", got, want, set.Names())
	}
}
