package prove

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/celadon-cel/celadon/internal/testing/reword"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

func long() bool { return level.Long() }

type corpusRule struct {
	file    string
	version *apiextensionsv1.CustomResourceDefinitionVersion
	prover  *Prover
	ref     engine.RuleRef
}

func (r *corpusRule) String() string {
	return fmt.Sprintf("%s %s[%d]: %s", filepath.Base(r.file), r.ref.Path, r.ref.Index, r.ref.Rule)
}

func corpusRules(t *testing.T) (rules []*corpusRule) {
	t.Helper()
	seen := map[string]bool{}
	for n, file := range corpus.CRDFiles(t) {
		if n%8 != 0 && !long() {
			continue
		}
		crd := corpus.ReadCRD(t, file)
		for i := range crd.Spec.Versions {
			v := &crd.Spec.Versions[i]
			p, err := New(v, Config{})
			if err != nil {
				continue
			}
			eachRule(p.schema, nil, func(ref engine.RuleRef) {
				if !seen[ref.Rule] {
					seen[ref.Rule] = true
					rules = append(rules, &corpusRule{file, v, p, ref})
				}
			})
		}
	}
	return rules
}

func eachRule(s *schema.Structural, path []engine.Step, visit func(engine.RuleRef)) {
	for i, r := range s.XValidations {
		visit(engine.RuleRef{Path: engine.FormatPath(path), Index: i, Rule: r.Rule, OptionalOldSelf: r.OptionalOldSelf != nil && *r.OptionalOldSelf})
	}
	for _, name := range sortedKeys(s.Properties) {
		prop := s.Properties[name]
		eachRule(&prop, pathBelow(path, engine.Step{Name: name}), visit)
	}
	if e := elementOf(s); e != nil {
		eachRule(e, pathBelow(path, engine.Step{Any: true}), visit)
	}
}

func (r *corpusRule) modelled() bool {
	w := newFormula(r.prover)
	q, err := w.question(r.prover, r.ref)
	if err != nil {
		return false
	}
	q.truth(q.rule)
	return w.vague == 0 && !w.tooLarge
}

func TestRewordedCorpus(t *testing.T) {
	rules := corpusRules(t)
	want := 500
	if !long() {
		want = 60
	}
	var questions, proved, plain, plainProved, split, splitProved int
	for i := 0; questions < want && i < 20*len(rules); i++ {
		seed := uint64(i)
		r := rules[rand.New(rand.NewPCG(seed, 3)).IntN(len(rules))]
		text, ways, err := reword.Rule(rand.New(rand.NewPCG(seed, 4)), r.ref.Rule)
		if err != nil || len(ways) == 0 {
			continue
		}
		proof, err := r.prover.Equal(r.ref, apiextensionsv1.ValidationRule{Rule: text, OptionalOldSelf: &r.ref.OptionalOldSelf})
		if err != nil {
			t.Errorf("%v\n%s: %v", r, text, err)
			continue
		}
		questions++
		if proof != nil {
			proved++
		}
		if r.modelled() {
			plain++
			if proof != nil {
				plainProved++
			} else {
				t.Logf("%v\n  not proved equal: %s\n  %v", r, text, ways)
			}
		} else if proof == nil && long() {
			t.Logf("%v\n  not proved equal, not modelled: %s\n  %v", r, text, ways)
		}
		if a, b := r.splits(t); a {
			split++
			if b {
				splitProved++
			}
		}
	}
	t.Logf("proved equal: %d of %d rewordings, %d of %d of wholly modelled rules; split in two: %d of %d", proved, questions, plainProved, plain, splitProved, split)
	if 100*proved < 90*questions || 100*plainProved < 95*plain || 100*splitProved < 90*split {
		t.Error("want at least 90 percent of all, 95 percent of the modeled, and 90 percent of the split rules")
	}
}

func (r *corpusRule) splits(t *testing.T) (can, proved bool) {
	t.Helper()
	parts, err := reword.Split(r.ref.Rule)
	if err != nil || parts == nil {
		return false, false
	}
	v := r.version.DeepCopy()
	steps, err := engine.ParsePath(r.ref.Path)
	if err != nil {
		t.Fatal(err)
	}
	v.Schema.OpenAPIV3Schema, _ = crdcopy.Schema(v.Schema.OpenAPIV3Schema, steps, func(s *apiextensionsv1.JSONSchemaProps) {
		one := s.XValidations[r.ref.Index]
		var two []apiextensionsv1.ValidationRule
		for _, text := range parts {
			part := one
			part.Rule, part.Message = text, "one of two"
			two = append(two, part)
		}
		s.XValidations = slices.Replace(s.XValidations, r.ref.Index, r.ref.Index+1, two...)
	})
	next, err := New(v, Config{})
	if err != nil {
		t.Fatal(err)
	}
	passes := func(p, q *Prover, index int) bool {
		proof, err := p.Passes(q, engine.RuleRef{Path: r.ref.Path, Index: index})
		if err != nil {
			t.Errorf("%v: %v", r, err)
		}
		return proof != nil
	}
	return true, passes(r.prover, next, r.ref.Index) && passes(r.prover, next, r.ref.Index+1) && passes(next, r.prover, r.ref.Index)
}

func TestModelledCorpus(t *testing.T) {
	rules := corpusRules(t)
	modelled := 0
	for _, r := range rules {
		if r.modelled() {
			modelled++
		}
	}
	t.Logf("%d of %d rules are modelled wholly", modelled, len(rules))
	if 100*modelled < 65*len(rules) {
		t.Error("want at least 65 percent")
	}
}

func TestAcceptsNothingInCorpus(t *testing.T) {
	for _, file := range corpus.CRDFiles(t) {
		if filepath.Base(file) != "upstreams.gateway.kgateway.dev.yaml" {
			continue
		}
		p, err := New(&corpus.ReadCRD(t, file).Spec.Versions[0], Config{})
		if err != nil {
			t.Fatal(err)
		}
		proof, err := p.AcceptsNothing("spec")
		if got, want := proofText(t, proof, err), "rule 0 of spec"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		return
	}
	t.Skip("the corpus has no such CRD")
}
