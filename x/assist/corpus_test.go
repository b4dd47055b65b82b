package assist_test

import (
	"context"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/celadon-cel/celadon/x/assist"
)

// few visits every n-th CRD of the corpus that compiles.
func few(t *testing.T, every int, visit func(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine)) {
	t.Helper()
	if level.Long() {
		every = 1
	}
	for i, file := range corpus.CRDFiles(t) {
		if i%every > 0 {
			continue
		}
		crd := corpus.ReadCRD(t, file)
		if e, err := engine.Compile(crd, engine.Config{}); err == nil {
			visit(crd, e)
		}
	}
}

func eachRule(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine, visit func(p *assist.Context, version, path string, index int, rule apiextensionsv1.ValidationRule)) {
	functions := &assist.Functions{}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		var at func(s *apiextensionsv1.JSONSchemaProps, steps []engine.Step)
		at = func(s *apiextensionsv1.JSONSchemaProps, steps []engine.Step) {
			path := engine.FormatPath(steps)
			for index, rule := range s.XValidations {
				p, err := assist.NewContext(e, v.Schema.OpenAPIV3Schema, v.Name, path)
				if err != nil {
					continue
				}
				p.Part, p.Functions, p.OptionalOldSelf = assist.Rule, functions, rule.OptionalOldSelf != nil && *rule.OptionalOldSelf
				visit(p, v.Name, path, index, rule)
			}
			for name := range s.Properties {
				below := s.Properties[name]
				at(&below, append(steps[:len(steps):len(steps)], engine.Step{Name: name}))
			}
			if s.Items != nil && s.Items.Schema != nil {
				at(s.Items.Schema, append(steps[:len(steps):len(steps)], engine.Step{Any: true}))
			}
			if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
				at(s.AdditionalProperties.Schema, append(steps[:len(steps):len(steps)], engine.Step{Any: true}))
			}
		}
		at(v.Schema.OpenAPIV3Schema, nil)
	}
}

// TestUnguardedCorpus compares Problems with vet's optional-read lint.
func TestUnguardedCorpus(t *testing.T) {
	t.Parallel()
	explained, fixed, offered := 0, 0, 0
	few(t, 12, func(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine) {
		report, err := vet.VetCRD(context.Background(), crd, vet.Config{})
		if err != nil {
			t.Fatal(err)
		}
		eachRule(crd, e, func(p *assist.Context, version, path string, index int, rule apiextensionsv1.ValidationRule) {
			want, ok := "", false
			for _, l := range report.Lints {
				if l.Name == "optional-read" && (l.Version == version || l.Version == "") && l.Path == path && l.Index == index {
					want, _, _ = strings.Cut(l.Message, " is optional")
				}
			}
			got := ""
			for _, problem := range p.Problems(rule.Rule) {
				if problem.Kind != assist.Unguarded {
					continue
				}
				if got == "" {
					got, _, _ = strings.Cut(problem.Message, " is optional")
				}
				explained++
				for _, m := range problem.Fixes {
					offered++
					gone(t, p, rule.Rule, problem, m)
				}
				if ok = len(problem.Fixes) > 0; ok {
					fixed++
				}
			}
			if got != want {
				t.Errorf("%s: %s[%d]: %s: %q, vet reports %q", crd.Name, path, index, rule.Rule, got, want)
			}
		})
	})
	t.Logf("%d findings, %d with fixes, %d fixes", explained, fixed, offered)
}

func TestBrokenCorpus(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(22, 4))
	broken, back, fixes := 0, 0, 0
	few(t, 12, func(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine) {
		eachRule(crd, e, func(p *assist.Context, _, _ string, _ int, rule apiextensionsv1.ValidationRule) {
			src := spoilt(random, rule.Rule)
			problems := p.Problems(src)
			if len(problems) != 1 || problems[0].Kind != assist.Broken {
				return
			}
			broken++
			for i, m := range problems[0].Fixes {
				fixes++
				gone(t, p, src, problems[0], m)
				if is := assist.Apply(src, m.Edits); i == 0 && strings.Join(strings.Fields(is), "") == strings.Join(strings.Fields(rule.Rule), "") {
					back++
				}
			}
		})
	})
	t.Logf("%d broken rules, %d fixes, %d rules are restored by the first fix", broken, fixes, back)
	if broken == 0 || back*100 < broken*75 {
		t.Errorf("only %d of %d rules are restored, want 75 %%", back, broken)
	}
}

var fieldName = regexp.MustCompile(`\.[a-z][A-Za-z]{3,}\b`)

func spoilt(random *rand.Rand, rule string) string {
	all := func(was, is string) string { return strings.ReplaceAll(rule, was, is) }
	switch random.IntN(8) {
	case 0:
		return all(" == ", " = ")
	case 1:
		return all(" && ", " and ")
	case 2:
		return all(" || ", " or ")
	case 3:
		return all("self.", "")
	case 4:
		return all(".size()", ".length()")
	case 5:
		return strings.TrimSuffix(rule, ")")
	case 6:
		return rule + ")"
	}
	at := fieldName.FindStringIndex(rule)
	if at == nil {
		return rule
	}
	i := at[0] + 2
	return rule[:i] + rule[i+1:i+2] + rule[i:i+1] + rule[i+2:]
}
