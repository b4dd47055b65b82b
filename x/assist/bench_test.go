package assist_test

import (
	"slices"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/x/assist"
)

func asks(b *testing.B) (places []*assist.Context, rules []string) {
	b.Helper()
	crd := corpus.ReadCRD(b, corpus.Largest(b, corpus.CRDFiles(b)))
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		b.Fatal(err)
	}
	functions := &assist.Functions{}
	eachRule(crd, e, func(p *assist.Context, _, _ string, _ int, rule apiextensionsv1.ValidationRule) {
		p.Part, p.Functions = assist.Rule, functions
		places, rules = append(places, p), append(rules, rule.Rule)
	})
	return places, rules
}

// benchmark reports the 95th percentile and the maximum of the time per call.
func benchmark(b *testing.B, ask func(p *assist.Context, rule string, at int)) {
	places, rules := asks(b)
	if len(places) == 0 {
		b.Fatal("no rules")
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		rule := rules[i%len(rules)]
		start := time.Now()
		ask(places[i%len(places)], rule, (i*7)%(len([]rune(rule))+1))
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
}

func BenchmarkPlaceComplete(b *testing.B) {
	benchmark(b, func(p *assist.Context, rule string, at int) { p.CompleteAt(rule, at) })
}

func BenchmarkPlaceHover(b *testing.B) {
	benchmark(b, func(p *assist.Context, rule string, at int) { p.Hover(rule, at) })
}

func BenchmarkPlaceCall(b *testing.B) {
	benchmark(b, func(p *assist.Context, rule string, at int) { p.Call(rule, at) })
}

func BenchmarkPlaceProblems(b *testing.B) {
	benchmark(b, func(p *assist.Context, rule string, at int) { p.Problems(string([]rune(rule)[:at])) })
}
