package schema

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/types"
)

type benchCase struct {
	name     string
	subject  *subject
	obj, old map[string]any
}

func benchCases(b *testing.B) []benchCase {
	own := benchCase{name: "own", subject: parseSubject(b, ordinarySchema), obj: parse(b, ordinaryObject).(map[string]any)}
	largest := map[string]benchCase{"httproutes": {}, "gateways": {}, "nodepools": {}, "hostedclusters": {}}
	for _, folder := range corpus.Named(b) {
		subjects := map[string]*subject{}
		for c := range corpus.Cases(b, folder) {
			name := nameOf(c.CRD)
			best, ok := largest[name]
			if !ok || len(encode(c.Object)) <= len(encode(best.obj)) {
				continue
			}
			s := corpusSubject(b, subjects, folder, c)
			obj, _ := s.ours.prepare(c.Object, Preparation{Prune: true, Default: true})
			if s.ours.Validate(nil, obj) == nil {
				largest[name] = benchCase{name: name, subject: s, obj: obj}
			}
		}
	}
	cases := []benchCase{own}
	for _, name := range slices.Sorted(maps.Keys(largest)) {
		if c := largest[name]; c.obj != nil {
			cases = append(cases, c)
		}
	}
	for i := range cases {
		cases[i].old = runtime.DeepCopyJSON(cases[i].obj)
	}
	return cases
}

func nameOf(path string) string {
	base := filepath.Base(path)
	for i := range base {
		if base[i] == '_' || base[i] == '.' {
			return base[:i]
		}
	}
	return base
}

func run(b *testing.B, name string, f func()) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f()
		}
	})
}

func BenchmarkValidate(b *testing.B) {
	for _, c := range benchCases(b) {
		s := c.subject
		run(b, c.name+"/ours", func() { s.ours.Validate(nil, c.obj) })
		run(b, c.name+"/upstream", func() { validation.ValidateCustomResource(nil, c.obj, s.validator) })
	}
}

func BenchmarkValidateUpdate(b *testing.B) {
	for _, c := range benchCases(b) {
		s := c.subject
		run(b, c.name+"/ours", func() { s.ours.ValidateUpdate(nil, c.obj, c.old) })
		run(b, c.name+"/upstream", func() {
			r := common.NewCorrelatedObject(c.obj, c.old, &model.Structural{Structural: s.structural})
			validation.ValidateCustomResourceUpdate(nil, c.obj, c.old, s.validator, validation.WithRatcheting(r))
		})
	}
}

func BenchmarkRejected(b *testing.B) {
	for _, c := range benchCases(b) {
		s := c.subject
		obj := runtime.DeepCopyJSON(c.obj)
		obj["metadata"] = "bad"
		run(b, c.name+"/ours", func() { s.ours.ValidateUpdate(nil, obj, c.old) })
		run(b, c.name+"/upstream", func() {
			r := common.NewCorrelatedObject(obj, c.old, &model.Structural{Structural: s.structural})
			validation.ValidateCustomResourceUpdate(nil, obj, c.old, s.validator, validation.WithRatcheting(r))
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, c := range benchCases(b) {
		s := c.subject
		formats := environment.DefaultCompatibilityVersion()
		run(b, c.name+"/ours", func() { _, _ = Compile(s.written, s.structural, types.Newest) })
		run(b, c.name+"/upstream", func() { _, _, _ = validation.NewSchemaValidatorForVersion(s.internal, formats) })
	}
}

func BenchmarkPrepare(b *testing.B) {
	what := Preparation{Prune: true, Track: true, Default: true}
	for _, c := range benchCases(b) {
		s := c.subject
		run(b, c.name+"/ours", func() { s.ours.prepare(c.obj, what) })
		run(b, c.name+"/upstream", func() { s.prepare(c.obj, what) })
	}
}

func BenchmarkListTypes(b *testing.B) {
	for _, c := range benchCases(b) {
		s := c.subject
		run(b, c.name+"/ours", func() { s.ours.ListTypes(nil, c.obj) })
		run(b, c.name+"/upstream", func() { listtype.ValidateListSetsAndMaps(nil, s.structural, c.obj) })
	}
}

func BenchmarkEmbedded(b *testing.B) {
	s := parseSubject(b, `{"type":"object","properties":{"x":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}}`)
	obj := parse(b, `{"x":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"n"}}}`).(map[string]any)
	ctx := context.Background()
	run(b, "ours", func() { s.ours.ValidateEmbedded(nil, obj) })
	run(b, "upstream", func() { objectmeta.Validate(ctx, nil, obj, s.structural, false) })
}
