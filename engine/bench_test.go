package engine_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/engine"
)

const crontabs = "../examples/crontab/"

// poolsLeak is set if memory that was put into a sync.Pool may not be reused.
var poolsLeak bool

func crontab(b testing.TB, file string) map[string]any {
	b.Helper()
	first, _, _ := strings.Cut(readFile(b, crontabs+file), "\n---\n")
	data, err := yaml.YAMLToJSON([]byte(first))
	if err != nil {
		b.Fatal(err)
	}
	obj, err := engine.Decode(data)
	if err != nil {
		b.Fatal(err)
	}
	return obj
}

func readFile(b testing.TB, path string) string {
	b.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return string(data)
}

func writes(b testing.TB) []write {
	good := crontab(b, "objects/good.yaml")
	return []write{
		{"create/accepted", engine.Request{Object: good}, true},
		{"create/refused", engine.Request{Object: crontab(b, "objects/bad.yaml")}, false},
		{"update/accepted", engine.Request{Object: good, OldObject: good}, true},
		{"update/refused", engine.Request{Object: crontab(b, "updates/nightly.yaml"), OldObject: good}, false},
	}
}

type write struct {
	name    string
	request engine.Request
	allowed bool
}

func BenchmarkValidate(b *testing.B) {
	e := mustCompile(b, readFile(b, crontabs+"crd.yaml"))
	for _, w := range writes(b) {
		b.Run(w.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if res, err := e.Validate(context.Background(), w.request); err != nil || res.Allowed != w.allowed {
					b.Fatal(res, err)
				}
			}
		})
	}
}

func BenchmarkValidateParallel(b *testing.B) {
	e := mustCompile(b, readFile(b, crontabs+"crd.yaml"))
	request := writes(b)[0].request
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := e.Validate(context.Background(), request); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkRules(b *testing.B) {
	e, rules := crontabRules(b, readFile(b, crontabs+"crd.yaml"))
	prepared, err := e.Prepare(engine.Request{Object: crontab(b, "objects/good.yaml")})
	if err != nil {
		b.Fatal(err)
	}
	good := prepared.Self
	for _, c := range []struct {
		name string
		old  any
	}{{"create", nil}, {"update", good}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rules.Validate(context.Background(), nil, good, c.old, celconfig.RuntimeCELCostBudget)
			}
		})
	}
}

func crontabRules(b testing.TB, text string) (*engine.Engine, *engine.Rules) {
	b.Helper()
	schema, err := yaml.Marshal(crd(b, text).Spec.Versions[0].Schema.OpenAPIV3Schema)
	if err != nil {
		b.Fatal(err)
	}
	rules, err := engine.CompileRules(structural(b, string(schema)), engine.Config{})
	if err != nil {
		b.Fatal(err)
	}
	return mustCompile(b, text), rules
}

func TestRulesAllocateNothing(t *testing.T) {
	if poolsLeak {
		t.Skip("pools are emptied under the race detector")
	}
	e, rules := crontabRules(t, strings.Replace(readFile(t, crontabs+"crd.yaml"), "self.split(' ').size() == 5", "self.size() > 8", 1))
	prepared, err := e.Prepare(engine.Request{Object: crontab(t, "objects/good.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	good := prepared.Self
	for _, old := range []any{nil, good} {
		n := testing.AllocsPerRun(100, func() {
			if errs, _ := rules.Validate(context.Background(), nil, good, old, celconfig.RuntimeCELCostBudget); len(errs) > 0 {
				t.Error(errs)
			}
		})
		if n != 0 {
			t.Errorf("old %v: %v allocations", old != nil, n)
		}
	}
}
