package engine_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

func benchCRDs(b *testing.B) map[string]*apiextensionsv1.CustomResourceDefinition {
	crds := map[string]*apiextensionsv1.CustomResourceDefinition{"own": cronTabCRD()}
	wanted := []string{"httproutes.gateway", "gateways.gateway", "infrastructures.config", "nodepools.karpenter", "hostedclusters.hypershift"}
	seen := map[string]bool{}
	for _, folder := range corpus.Named(b) {
		files, err := filepath.Glob(filepath.Join(folder, "crds", "*", "*.yaml"))
		if err != nil {
			b.Fatal(err)
		}
		for _, file := range files {
			name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".yaml"), "--")
			if seen[name] || !slices.ContainsFunc(wanted, func(w string) bool { return strings.HasPrefix(name, w) }) {
				continue
			}
			seen[name] = true
			data, err := os.ReadFile(file)
			if err != nil {
				b.Fatal(err)
			}
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if err := yaml.Unmarshal(data, crd); err != nil {
				b.Fatal(err)
			}
			crds[name] = crd
		}
	}
	return crds
}

func schemas(b *testing.B, crd *apiextensionsv1.CustomResourceDefinition) []*schema.Structural {
	var all []*schema.Structural
	for _, v := range crd.Spec.Versions {
		data, err := yaml.Marshal(v.Schema.OpenAPIV3Schema)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, structural(b, string(data)))
	}
	return all
}

// Upstream compiles only the rules.
func BenchmarkCompile(b *testing.B) {
	crds := benchCRDs(b)
	for _, name := range slices.Sorted(maps.Keys(crds)) {
		crd := crds[name]
		structurals := schemas(b, crd)
		work := []struct {
			name string
			do   func()
		}{
			{"engine", func() { _, _ = engine.Compile(crd, engine.Config{}) }},
			{"rules", func() {
				for _, s := range structurals {
					_, _ = engine.CompileRules(s, engine.Config{})
				}
			}},
			{"upstream", func() {
				for _, s := range structurals {
					upstreamcel.NewValidator(s, true, celconfig.PerCallLimit)
				}
			}},
		}
		for _, w := range work {
			b.Run(name+"/"+w.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					w.do()
				}
			})
		}
	}
}
