package assist_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/access"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/assist"
)

// plantedSteps limits the search for an object on which a correction differs from the rule.
const plantedSteps = 150

const perRule = 8

// verdictOn counts the mistakes of one kind, and their corrections. wrong counts the certain corrections that differ
// from the rule.
type verdictOn struct{ planted, offered, restored, differ, wrong int }

// TestPlantedMistakes plants mistakes into the rules of the corpus and compares the corrections that are offered with
// the rule as it was, by the cases of the CRD's maintainers and a search. At most 0.5 % of the corrections may differ
// for an object, and no certain correction.
func TestPlantedMistakes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(58, 1))
	by := map[string]*verdictOn{}
	var sum verdictOn
	rules := 0
	seen := map[string]bool{}
	judges := casesByName(t)
	every := 16
	if testing.Short() {
		every = 64
	}
	few(t, every, func(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine) {
		eachRule(crd, e, func(p *assist.Context, version, path string, index int, rule apiextensionsv1.ValidationRule) {
			checked := compiled(p, rule)
			if checked == nil || seen[rule.Rule] {
				return
			}
			seen[rule.Rule] = true
			rules++
			r := newPlanted(rule.Rule, checked)
			left := perRule
			for _, i := range random.Perm(len(plantings)) {
				all := plantings[i].plant(r)
				if len(all) == 0 {
					continue
				}
				if left--; left < 0 {
					break
				}
				wrong := all[random.IntN(len(all))]
				if one := by[plantings[i].name]; one == nil {
					by[plantings[i].name] = &verdictOn{}
				}
				c := &correction{crd: crd, p: p, version: version, path: path, index: index, rule: rule, kind: plantings[i].name, wrong: wrong,
					judges: judges[crd.Name+" "+version]}
				c.judge(t, by[plantings[i].name])
			}
		})
	})
	for _, one := range plantings {
		v := by[one.name]
		if v == nil {
			t.Logf("%-32s never planted", one.name)
			continue
		}
		sum.planted += v.planted
		sum.offered += v.offered
		sum.restored += v.restored
		sum.differ += v.differ
		sum.wrong += v.wrong
		t.Logf("%-32s %4d planted %4d offered %4d restored %4d differ", one.name, v.planted, v.offered, v.restored, v.differ)
	}
	if sum.differ*1000 > sum.offered*5 {
		t.Errorf("%d of %d corrections differ from the rule, want 0.5 %%", sum.differ, sum.offered)
	}
	if sum.offered*100 < sum.planted*80 {
		t.Errorf("%d of %d mistakes have a correction, want 80 %%", sum.offered, sum.planted)
	}
	if sum.wrong > 0 {
		t.Errorf("%d certain corrections differ from the rule", sum.wrong)
	}
	t.Logf("%d rules, %d mistakes, %d offered (%.1f %%), %d restored, %d differ (%.2f %%)", rules, sum.planted, sum.offered,
		100*float64(sum.offered)/float64(sum.planted), sum.restored, sum.differ, 100*float64(sum.differ)/float64(sum.offered))
}

func compiled(p *assist.Context, rule apiextensionsv1.ValidationRule) *cel.Ast {
	compiler, err := access.Compiler(p.Node)
	if err != nil {
		return nil
	}
	x, err := compiler.Compile(rule.Rule, p.OptionalOldSelf)
	if err != nil {
		return nil
	}
	return x.AST()
}

type correction struct {
	crd           *apiextensionsv1.CustomResourceDefinition
	p             *assist.Context
	version, path string
	index         int
	rule          apiextensionsv1.ValidationRule
	kind, wrong   string
	judges        []corpus.Case // of the CRD's maintainers
}

func (c *correction) judge(t *testing.T, v *verdictOn) {
	problems := c.p.Problems(c.wrong)
	if len(problems) == 0 || problems[0].Kind == assist.Costly || problems[0].Kind == assist.Unguarded && c.kind != "missing guard" {
		return // it is another rule
	}
	v.planted++
	fixed := problems[0].Fixed(c.wrong)
	if fixed == "" {
		return
	}
	v.offered++
	was, is := compiled(c.p, c.rule), compiled(c.p, apiextensionsv1.ValidationRule{Rule: fixed})
	if was != nil && is != nil && unparsed(was) == unparsed(is) {
		v.restored++
		return
	}
	if on := c.difference(t, fixed); on != "" {
		v.differ++
		if problems[0].Fixes[0].Certain {
			v.wrong++
		}
		t.Logf("%s: certain %t\n\trule      %s\n\tmistake   %s\n\tcorrected %s\n\thint      %s\n\tdiffer on %s", c.kind, problems[0].Fixes[0].Certain,
			c.rule.Rule, c.wrong, fixed, problems[0].Hint(), on)
	}
}

func unparsed(x *cel.Ast) string {
	text, err := cel.AstToString(x)
	if err != nil {
		return err.Error()
	}
	return text
}

// difference searches for an object on which the rule and its correction differ. It returns "" if it finds no object.
func (c *correction) difference(t *testing.T, fixed string) string {
	crd := c.crd.DeepCopy()
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		v.Served = v.Name == c.version
		withoutRules(v.Schema.OpenAPIV3Schema)
		if v.Name != c.version {
			continue
		}
		v.Served = true
		steps, err := engine.ParsePath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		setRule(v.Schema.OpenAPIV3Schema, steps, apiextensionsv1.ValidationRule{Rule: "(" + c.rule.Rule + "\n) == (" + fixed + "\n)", OptionalOldSelf: c.rule.OptionalOldSelf})
	}
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		if strings.Contains(err.Error(), "cost") {
			return ""
		}
		return "does not compile: " + err.Error()
	}
	for _, judge := range c.judges {
		res, err := e.Validate(t.Context(), engine.Request{Object: judge.Object, OldObject: judge.OldObject, Subresource: judge.Subresource})
		if err != nil {
			t.Fatal(err)
		}
		for _, cause := range res.Causes {
			if cause.Rule != nil && strings.HasPrefix(cause.Detail, "failed rule: ") {
				return "the case " + judge.Name
			}
		}
	}
	s, err := search.New(crd, e, c.version, search.Config{Steps: plantedSteps})
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range s.Rules() {
		a, err := s.Find(t.Context(), ref, search.Rejected)
		if err != nil {
			t.Fatal(err)
		}
		if a.Status == search.Found {
			return fmt.Sprintf("%v", a.Witness.Object["spec"])
		}
	}
	return ""
}

func casesByName(t *testing.T) map[string][]corpus.Case {
	names, all := map[string]string{}, map[string][]corpus.Case{}
	for _, folder := range corpus.Folders(t) {
		for c := range corpus.Cases(t, folder) {
			file := filepath.Join(folder, c.CRD)
			if names[file] == "" {
				names[file] = corpus.ReadCRD(t, file).Name
			}
			key := names[file] + " " + c.Version
			all[key] = append(all[key], c)
		}
	}
	return all
}

func withoutRules(s *apiextensionsv1.JSONSchemaProps) {
	s.XValidations = nil
	for name := range s.Properties {
		below := s.Properties[name]
		withoutRules(&below)
		s.Properties[name] = below
	}
	if s.Items != nil && s.Items.Schema != nil {
		withoutRules(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		withoutRules(s.AdditionalProperties.Schema)
	}
}

func setRule(s *apiextensionsv1.JSONSchemaProps, steps []engine.Step, rule apiextensionsv1.ValidationRule) {
	if len(steps) == 0 {
		s.XValidations = apiextensionsv1.ValidationRules{rule}
		return
	}
	if prop, ok := s.Properties[steps[0].Name]; ok && !steps[0].Any && !steps[0].Item {
		setRule(&prop, steps[1:], rule)
		s.Properties[steps[0].Name] = prop
		return
	}
	if s.Items != nil && s.Items.Schema != nil {
		setRule(s.Items.Schema, steps[1:], rule)
	} else if s.AdditionalProperties != nil {
		setRule(s.AdditionalProperties.Schema, steps[1:], rule)
	}
}
