package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/testing/brokencrd"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

func BenchmarkCompile(b *testing.B) {
	all := subjects(b)
	compare := func(row string, benches func(c *compiling) (ours, theirs func(b *testing.B))) {
		for _, s := range all {
			mine, theirs := benches(newCompiling(b, s))
			bench(b, row, s.name, ours, mine)
			bench(b, row, s.name, "upstream", theirs)
		}
	}
	compare("rules of each version", func(c *compiling) (_, _ func(b *testing.B)) {
		return loop(func() { c.rules() }, nil, 1), loop(func() { c.validators() }, nil, 1)
	})
	compare("rules of a CRD, all versions", func(c *compiling) (_, _ func(b *testing.B)) {
		return loop(func() { compile(c.crd) }, func() { compile(c.plain) }, 1), loop(func() { c.validators() }, nil, 1)
	})
	compare("a CRD, with its schemas", func(c *compiling) (_, _ func(b *testing.B)) {
		return loop(func() { compile(c.crd) }, nil, 1), loop(func() { c.validators() }, nil, 1)
	})
	compare("memory of compiled rules", func(c *compiling) (_, _ func(b *testing.B)) {
		return kept(c.rules), kept(c.validators)
	})
}

type compiling struct {
	crd, plain *apiextensionsv1.CustomResourceDefinition
	schemas    []*schema.Structural
}

func newCompiling(b *testing.B, s *subject) *compiling {
	b.Helper()
	c := &compiling{crd: s.crd.Definition, plain: withoutRules(s.crd.Definition)}
	for i := range c.crd.Spec.Versions {
		u, err := newUpstream(c.crd, &c.crd.Spec.Versions[i])
		if err != nil {
			b.Fatal(err)
		}
		c.schemas = append(c.schemas, u.schema)
	}
	return c
}

func withoutRules(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	plain := crd.DeepCopy()
	brokencrd.EachSchema(plain, func(s *apiextensionsv1.JSONSchemaProps) { s.XValidations = nil })
	return plain
}

func compile(crd *apiextensionsv1.CustomResourceDefinition) {
	_, _ = engine.Compile(crd, engine.Config{})
}

func (c *compiling) rules() any {
	var all []*engine.Rules
	for _, s := range c.schemas {
		rules, _ := engine.CompileRules(s, engine.Config{})
		all = append(all, rules)
	}
	return all
}

func (c *compiling) validators() any {
	var all []*upstreamcel.Validator
	for _, s := range c.schemas {
		all = append(all, upstreamcel.NewValidator(s, true, celconfig.PerCallLimit))
	}
	return all
}

const vettedCRDs = 25

func BenchmarkVet(b *testing.B) {
	crds := largestCRDs(b)
	var plain []*apiextensionsv1.CustomResourceDefinition
	for _, crd := range crds {
		plain = append(plain, withoutRules(crd))
	}
	vetAll := func(crds []*apiextensionsv1.CustomResourceDefinition, cfg vet.Config) func() {
		return func() {
			for _, crd := range crds {
				if _, err := vet.VetCRD(context.Background(), crd, cfg); err != nil {
					b.Error(err)
				}
			}
		}
	}
	theirs := func(crds []*apiextensionsv1.CustomResourceDefinition) func() {
		return func() {
			for _, crd := range crds {
				if err := validateCRD(crd); err != nil {
					b.Error(err)
				}
			}
		}
	}
	verdict, object := vet.Config{VerdictOnly: true}, fmt.Sprintf("%d CRDs", len(crds))
	bench(b, "a verdict", object, ours, loop(vetAll(crds, verdict), nil, 1))
	bench(b, "a verdict", object, "upstream", loop(theirs(crds), nil, 1))
	bench(b, "a verdict, only rules", object, ours, loop(vetAll(crds, verdict), vetAll(plain, verdict), 1))
	bench(b, "a verdict, only rules", object, "upstream", loop(theirs(crds), theirs(plain), 1))
	bench(b, "the full report", object, ours, loop(vetAll(crds, vet.Config{}), nil, 1))
	bench(b, "the full report", object, "upstream", loop(theirs(crds), nil, 1))
}

func validateCRD(crd *apiextensionsv1.CustomResourceDefinition) error {
	v1, internal := crd.DeepCopy(), &apiextensions.CustomResourceDefinition{}
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(v1)
	err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(v1, internal, nil)
	if err != nil {
		return err
	}
	validation.ValidateCustomResourceDefinition(context.Background(), internal)
	return nil
}

func largestCRDs(b *testing.B) (crds []*apiextensionsv1.CustomResourceDefinition) {
	b.Helper()
	var files [][]byte
	for _, dir := range corpora() {
		paths, err := filepath.Glob(filepath.Join(dir, "crds", "*", "*.yaml"))
		if err != nil {
			b.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			files = append(files, data)
		}
	}
	slices.SortStableFunc(files, func(a, b []byte) int { return cmp.Compare(len(b), len(a)) })
	names := map[string]bool{}
	for _, data := range files {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(data, crd); err != nil {
			b.Fatal(err)
		}
		if !names[crd.Name] {
			crds, names[crd.Name] = append(crds, crd), true
		}
		if len(crds) == vettedCRDs {
			break
		}
	}
	if len(crds) == 0 {
		b.Skip("CELADON_CORPUS names no folder with CRDs")
	}
	return crds
}

// BenchmarkOnceShell runs searches like :find of the shell.
func BenchmarkOnceShell(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as in the shell
	for _, s := range subjects(b) {
		def := s.crd.Definition
		e, err := engine.Compile(def, engine.Config{})
		if e == nil {
			b.Fatal(err)
		}
		version := ""
		for _, v := range def.Spec.Versions {
			if v.Storage {
				version = v.Name
			}
		}
		a, err := analysis.New(def, e, version, analysis.Config{})
		if err != nil {
			b.Fatal(err)
		}
		for i, rule := range a.Rules() {
			bench(b, ":find of each rule", fmt.Sprintf("%s %d", s.name, i), ours, loop(func() {
				a, err := analysis.New(def, e, version, analysis.Config{})
				if err == nil {
					_, err = a.Ask(context.Background(), rule, search.Rejected)
				}
				if err != nil {
					b.Fatal(err)
				}
			}, nil, 1))
		}
	}
}
