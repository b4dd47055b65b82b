package find

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/budget"
)

// A Question is a question about a rule of a CRD. The CRD need not be in a file.
type Question struct {
	Version, Path string
	Index         int
	// Want is one of Wants except "all". Steps limits the writes that are tried.
	Want  string
	Steps int
}

// Ask runs celadon find for a question about a rule. It returns an error if the question is
// invalid, if the rule does not exist or compile, if ctx is done, or on an internal error.
func Ask(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, q Question) (*RulePart, error) {
	if i := slices.Index(Wants, q.Want); i < 0 || q.Want == "all" {
		return nil, fmt.Errorf("want %q: use one of %v", q.Want, Wants[:len(Wants)-1])
	}
	if q.Steps <= 0 {
		return nil, fmt.Errorf("steps %d: want 1 or more", q.Steps)
	}
	e, err := engine.Compile(crd, engine.Config{})
	if e == nil {
		return nil, err
	}
	if !slices.Contains(e.Info().Versions, q.Version) {
		return nil, fmt.Errorf("version %q: the CRD has %v", q.Version, e.Info().Versions)
	}
	v := &versionSearch{
		ctx: ctx, crd: crd, engine: e, name: q.Version, known: &selectable{}, step: func() {}, costs: budget.Proofs(crd, "", cost.Limits{}),
		o: &Options{Version: q.Version, At: q.Path, Rule: q.Index, Want: q.Want, Steps: q.Steps, Seed: 1, at: true, one: true},
	}
	part, err := v.run()
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case part == nil || len(part.Rules) == 0:
		return nil, fmt.Errorf("%s: x-kubernetes-validations[%d]: no such rule, or one that does not compile", q.Path, q.Index)
	}
	return part.Rules[0], nil
}

// Result returns the result in a RulePart that Ask returned, as a phrase and in full.
func (r *RulePart) Result() (words string, f *Finding) {
	for _, a := range r.answers() {
		words, f = a.finding.words, a.finding
	}
	return words, f
}
