package analysis_test

import (
	"context"
	"os"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

// New is included, because :find in the shell creates an Analyzer for each question.
func BenchmarkAsk(b *testing.B) {
	data, err := os.ReadFile("../../examples/crontab/crd.yaml")
	if err != nil {
		b.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		b.Fatal(err)
	}
	e, err := engine.Compile(crd, engine.Config{})
	if e == nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var rules int
		for i := 0; i == 0 || i < rules; i++ {
			a, err := analysis.New(crd, e, "v1", analysis.Config{})
			if err != nil {
				b.Fatal(err)
			}
			rules = len(a.Rules())
			if _, err := a.Ask(context.Background(), a.Rules()[i], search.Rejected); err != nil {
				b.Fatal(err)
			}
		}
	}
}
