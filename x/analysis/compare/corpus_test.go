package compare_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/celadon-cel/celadon/internal/testing/reword"
	"github.com/celadon-cel/celadon/x/analysis/compare"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

func sample(long, short int) int {
	if level.Long() {
		return long
	}
	return short
}

type (
	props = apiextensionsv1.JSONSchemaProps
	aRule = apiextensionsv1.ValidationRule
)

type corpusRule struct {
	file, version string
	crd           *apiextensionsv1.CustomResourceDefinition
	path          string
	index         int
	text          string
}

func corpusRules(t *testing.T) (all []*corpusRule) {
	t.Helper()
	for _, file := range corpus.CRDFiles(t) {
		crd, seen := corpus.ReadCRD(t, file), map[string]bool{}
		for i := range crd.Spec.Versions {
			if !crd.Spec.Versions[i].Served || crd.Spec.Versions[i].Schema == nil {
				continue
			}
			one := oneVersion(crd, i)
			eachProps(one.Spec.Versions[0].Schema.OpenAPIV3Schema, nil, func(path string, s *props) {
				for index, r := range s.XValidations {
					if !seen[r.Rule] {
						seen[r.Rule] = true
						all = append(all, &corpusRule{file, one.Spec.Versions[0].Name, one, path, index, r.Rule})
					}
				}
			})
		}
	}
	return all
}

func oneVersion(crd *apiextensionsv1.CustomResourceDefinition, i int) *apiextensionsv1.CustomResourceDefinition {
	one := *crd
	v := crd.Spec.Versions[i]
	v.Storage = true
	one.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{v}
	one.Spec.Conversion = nil
	return &one
}

func eachProps(s *props, steps []engine.Step, visit func(path string, s *props)) {
	visit(engine.FormatPath(steps), s)
	for _, name := range sortedNames(s.Properties) {
		below := s.Properties[name]
		eachProps(&below, append(slices.Clip(steps), engine.Step{Name: name}), visit)
		s.Properties[name] = below
	}
	if s.Items != nil && s.Items.Schema != nil {
		eachProps(s.Items.Schema, append(slices.Clip(steps), engine.Step{Any: true}), visit)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		eachProps(s.AdditionalProperties.Schema, append(slices.Clip(steps), engine.Step{Any: true}), visit)
	}
}

func (r *corpusRule) with(edit func(rules []aRule) []aRule) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd := r.crd.DeepCopy()
	eachProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, nil, func(path string, s *props) {
		if path == r.path {
			s.XValidations = edit(s.XValidations)
		}
	})
	_, err := engine.Compile(crd, engine.Config{})
	return crd, err
}

func (r *corpusRule) instead(text string) (*apiextensionsv1.CustomResourceDefinition, error) {
	return r.with(func(rules []aRule) []aRule {
		rules[r.index].Rule = text
		return rules
	})
}

func mutated(rng *rand.Rand, text string) string {
	runes := []rune(text)
	tokens := lex.Tokens(runes)
	if len(tokens) == 0 {
		return ""
	}
	tok := tokens[rng.IntN(len(tokens))]
	was := string(runes[tok.Start:tok.End])
	is, ok := map[string]string{
		"&&": "||", "||": "&&", "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "!": "",
		"all": "exists", "exists": "all", "exists_one": "exists", "true": "false", "false": "true", "+": "-", "-": "+",
		"startsWith": "endsWith", "endsWith": "startsWith",
	}[was]
	switch {
	case ok:
	case tok.Kind == lex.Number:
		is = was + "+1"
	case tok.Kind == lex.String && len(was) > 2 && (was[0] == '\'' || was[0] == '"'):
		is = was[:1] + "x" + was[1:]
	default:
		return ""
	}
	return string(runes[:tok.Start]) + is + string(runes[tok.End:])
}

func parallel(n int, run func(i int)) {
	var all sync.WaitGroup
	queue := make(chan int, n)
	for i := range n {
		queue <- i
	}
	close(queue)
	for range 2 {
		all.Go(func() {
			for i := range queue {
				run(i)
			}
		})
	}
	all.Wait()
}

// Changed rules that do not compile or are proved equivalent do not count.
func TestMutantsOfCorpus(t *testing.T) {
	rules := corpusRules(t)
	want := sample(1000, 24)
	var mutants []*corpusRule
	var texts []string
	for seed := uint64(0); len(mutants) < want; seed++ {
		rng := rand.New(rand.NewPCG(seed, 17))
		r := rules[rng.IntN(len(rules))]
		if text := mutated(rng, r.text); text != "" {
			mutants, texts = append(mutants, r), append(texts, text)
		}
	}
	var mu sync.Mutex
	reported, equivalent, broken := 0, 0, 0
	parallel(len(mutants), func(i int) {
		r := mutants[i]
		after, err := r.instead(texts[i])
		mu.Lock()
		if err != nil {
			broken++
			mu.Unlock()
			return
		}
		mu.Unlock()
		report, err := compare.CRDs(context.Background(), r.crd, after, compare.Config{})
		if err != nil {
			t.Errorf("%s %s: %v", r.file, r.path, err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		witness, proved := false, len(report.Changes) > 0
		for _, c := range report.Changes {
			witness = witness || c.Rejected != nil || c.Admitted != nil
			proved = proved && c.Effect == compare.Equivalent && c.By == compare.ByProof
			held(t, r.crd, after, c.Rejected)
			held(t, after, r.crd, c.Admitted)
		}
		switch {
		case witness:
			reported++
		case proved:
			equivalent++
		default:
			t.Logf("not reported: %s %s:\n\t%s\n\t%s\n\t%s", r.file, r.path, r.text, texts[i], summary(report))
		}
	})
	alive := len(mutants) - broken - equivalent
	t.Logf("%d mutants, %d do not compile, %d proved equivalent, %d of %d distinguished (%.1f %%)", len(mutants), broken, equivalent, reported, alive, 100*float64(reported)/float64(alive))
	if float64(reported) < 0.97*float64(alive)-1 {
		t.Errorf("distinguished: %d of %d: want 97 %%", reported, alive)
	}
}

func summary(r *compare.Report) (text string) {
	for _, c := range r.Changes {
		text += fmt.Sprintf("%s by %s, searched %d, %s; ", c.Effect, c.By, c.Searched, c.Reason)
	}
	return text
}

func held(t *testing.T, admits, rejects *apiextensionsv1.CustomResourceDefinition, w *compare.Witness) {
	t.Helper()
	if w == nil || len(w.Kept) > 0 {
		return
	}
	req := engine.Request{Object: w.Object, OldObject: w.Old}
	if w.Operation == search.Status {
		req.Subresource = "status"
	}
	for _, c := range []struct {
		crd  *apiextensionsv1.CustomResourceDefinition
		want bool
	}{{admits, true}, {rejects, false}} {
		e, err := engine.Compile(c.crd, engine.Config{})
		if e == nil {
			t.Error(err)
			return
		}
		if res, err := e.Validate(context.Background(), req); err != nil || res.Allowed != c.want {
			t.Errorf("%s: the witness is allowed: %v (%v), want %v", c.crd.Name, res.Allowed, err, c.want)
		}
	}
}

func TestRewordingsOfCorpus(t *testing.T) {
	rules := corpusRules(t)
	want := sample(500, 24)
	var mu sync.Mutex
	n, proved, alarms, splits := 0, 0, 0, 0
	parallel(want, func(i int) {
		var r *corpusRule
		var after *apiextensionsv1.CustomResourceDefinition
		split := false
		for try := uint64(0); after == nil; try++ {
			rng := rand.New(rand.NewPCG(uint64(i), try))
			r = rules[rng.IntN(len(rules))]
			if parts, err := reword.Split(r.text); err == nil && len(parts) == 2 && rng.IntN(2) == 0 {
				split = true
				after, _ = r.with(func(rules []aRule) []aRule {
					second := rules[r.index]
					rules[r.index].Rule, second.Rule = parts[0], parts[1]
					return append(rules, second)
				})
				continue
			}
			text, ways, err := reword.Rule(rng, r.text)
			if err == nil && len(ways) > 0 {
				if crd, err := r.instead(text); err == nil {
					after = crd
				}
			}
		}
		report, err := compare.CRDs(context.Background(), r.crd, after, compare.Config{})
		if err != nil {
			t.Errorf("%s %s: %v", r.file, r.path, err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		n++
		all := true
		for _, c := range report.Changes {
			if c.Rejected != nil || c.Admitted != nil {
				alarms++
				t.Errorf("%s %s: %s: a rewording %s:\n\t%s\n\t%s\n\t%v", r.file, r.path, c.Subject, c.Effect, c.Old, c.New, c.Rejected)
			}
			all = all && c.Effect == compare.Equivalent && c.By == compare.ByProof
		}
		if split {
			splits++
		}
		if all {
			proved++
		} else {
			t.Logf("not proved: %s %s\n\t%s", r.file, r.path, r.text)
		}
	})
	t.Logf("%d rewordings, %d of them splits: %d alarms, %d proved equivalent (%.1f %%)", n, splits, alarms, proved, 100*float64(proved)/float64(n))
	if float64(proved) < 0.8*float64(n) {
		t.Errorf("proved equivalent: %d of %d: want 80 %%", proved, n)
	}
}
