package lint

import (
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// How it works: vet's own lints can contain a replacement for the rule. If it is meant to be equivalent, the
// prover confirms that, or the search looks for a write that only one of the two CRDs admits. Otherwise the
// search looks for such a write as an example, among the example values in the lint.

const uniqueList = "unique-list"

func (f *finder) suggest(lints []Lint) error {
	for i := range lints {
		l := &lints[i]
		if l.Fix == "" && l.Name != uniqueList || f.cfg.work.Empty() {
			continue
		}
		for j := range f.unit.rules {
			if r := &f.unit.rules[j]; r.Field == l.Field {
				if err := f.complete(l, r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (f *finder) complete(l *Lint, r *vet.Rule) error {
	if l.Fix == "" {
		answer, err := f.analyzer.Ask(f.ctx, f.ref(r), search.Rejected)
		if err == nil && answer.Witness != nil {
			l.Witness, l.MadeUp = answer.Witness, answer.MadeUp
			l.Message += "; the rule rejects the example object"
		}
		return err
	}
	s := &suggestion{finder: f, lint: l, ref: f.ref(r)}
	var err error
	if s.steps, err = engine.ParsePath(r.Path); err != nil {
		return err
	}
	if ok, err := s.compiles(); err != nil || !ok {
		return err
	}
	if l.Equivalent {
		return s.compare()
	}
	return s.exemplify()
}

type suggestion struct {
	*finder
	lint  *Lint
	ref   engine.RuleRef
	steps []engine.Step
}

// compiles reports whether the API server accepts the CRD with the replacement, or rejects the CRD
// anyway. It returns false if the work budget is used up.
func (s *suggestion) compiles() (bool, error) {
	crd := s.replaced(s.crd)
	if s.cfg.work.Spend(crdcopy.CompileWork(crd)); s.cfg.work.Empty() {
		return false, nil
	}
	report, err := vet.VetCRD(s.ctx, crd, vet.Config{KubeVersion: s.cfg.KubeVersion, VerdictOnly: true})
	return err == nil && (report.Accepted || !s.report.Accepted), err
}

func (s *suggestion) replaced(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	return withRule(crd, s.unit.version, s.steps, s.lint.Index, s.lint.Fix)
}

// compare adds the replacement if it is proved to be equivalent, or if a search within the budget
// finds no write that only one of the two CRDs admits.
func (s *suggestion) compare() error {
	fix := Rewrite{Rule: s.lint.Fix, Keeps: true, Effect: Equivalent}
	fix.Proof = s.analyzer.Equal(s.ref, apiextensionsv1.ValidationRule{Rule: s.lint.Fix, OptionalOldSelf: &s.ref.OptionalOldSelf})
	if fix.Proof != nil {
		s.lint.Rewrites = append(s.lint.Rewrites, fix)
		return nil
	}
	before, err := s.compiled(s.crd, search.DefaultSteps)
	if err != nil || before == nil {
		return err
	}
	after, err := s.compiled(s.replaced(s.crd), search.DefaultSteps)
	if err != nil || after == nil {
		return err
	}
	for _, pair := range [][2]*form{{before, after}, {after, before}} {
		answer, err := pair[0].rejection(s, pair[1])
		if err != nil || answer.Status != search.Unknown || answer.Limited {
			return err
		}
		fix.Searched += answer.Searched
	}
	s.lint.Rewrites = append(s.lint.Rewrites, fix)
	return nil
}

func (f *form) rejection(s *suggestion, other *form) (*search.Answer, error) {
	return f.analyzer.Form(f.engine).Rejection(s.ctx, other.analyzer.Form(other.engine))
}

// exemplify adds the replacement and, if it finds one, a write for which the results of the rule and the
// replacement differ.
func (s *suggestion) exemplify() error {
	s.lint.Rewrites = append(s.lint.Rewrites, Rewrite{Rule: s.lint.Fix, Effect: Wanted})
	narrow := s.narrowed()
	before, err := s.compiled(narrow, search.DefaultSteps)
	if err != nil || before == nil {
		return err
	}
	after, err := s.compiled(s.replaced(narrow), search.DefaultSteps)
	if err != nil || after == nil {
		return err
	}
	for i, pair := range [][2]*form{{after, before}, {before, after}} {
		answer, err := pair[0].rejection(s, pair[1])
		if err != nil {
			return err
		}
		w := answer.Witness
		if w == nil {
			continue
		}
		if w.Result, err = s.engine.Validate(s.ctx, w.Request()); err != nil {
			return s.ctx.Err() // an undecided write is not an example
		}
		if accepted := i == 0; w.Result.Allowed == accepted {
			s.lint.Witness = w
			s.lint.Message += map[bool]string{true: "; the rule accepts the example object, the replacement rejects it", false: "; the rule rejects the example object, the replacement accepts it"}[accepted]
			return nil
		}
	}
	return nil
}

func (s *suggestion) narrowed() *apiextensionsv1.CustomResourceDefinition {
	crd := s.crd
	for _, example := range s.lint.Examples {
		steps, err := engine.ParsePath(example.Path)
		if err != nil {
			continue
		}
		crd, _ = crdcopy.With(crd, s.unit.version, steps, func(at *apiextensionsv1.JSONSchemaProps) {
			at.Enum = nil
			for _, value := range example.Values {
				if text, err := json.Marshal(value); err == nil {
					at.Enum = append(at.Enum, apiextensionsv1.JSON{Raw: text})
				}
			}
			at.Default = nil
		})
	}
	return crd
}
