package trace

import (
	"context"
	"testing"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

func cronTab(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := engine.Compile(corpus.ReadCRD(t, "../../examples/crontab/crd.yaml"), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func BenchmarkWhy(b *testing.B) {
	e := cronTab(b)
	res, err := e.Validate(context.Background(), engine.Request{Raw: []byte(`{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"n","namespace":"ns"},
		"spec":{"schedule":"0 3 * * *","image":"a:1","replicas":3,"maxReplicas":2}}`)})
	if err != nil || len(res.Causes) == 0 {
		b.Fatal(res, err)
	}
	x := NewExplainer(e)
	b.ReportAllocs()
	for b.Loop() {
		if why, err := x.Why(context.Background(), res.Prepared, res.Causes); err != nil || len(why[0]) == 0 {
			b.Fatal("no values")
		}
	}
}
