package mutation

import (
	"context"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/x/eval"
)

// PolicySuite holds the cases that are evaluated by the same policies.
type PolicySuite struct {
	Set   *policy.Set
	Cases []PolicyCase
}

// PolicyCase is a test that passes.
type PolicyCase struct {
	Name string
	// Policies maps the names of the policies that are evaluated to whether their validations are as well.
	// matchConditions can exclude them.
	Policies map[string]bool
	// Passes reports whether the case passes with another set. problem is the reason why it has no
	// verdict, or "". The error is the context's or an internal error. It is called concurrently.
	Passes func(ctx context.Context, set *policy.Set) (passes bool, problem string, err error)
}

// removable lists the parts of policies that have no effect if they are true.
var removable = []string{policy.PartCondition, policy.PartValidation}

func (g *mutantGenerator) policies(s *PolicySuite) error {
	// Probes are called with the checked expressions. No expression is evaluated.
	_, err := s.Set.Watch(func(x policy.Expression) policy.ExpressionObserver { return &expressionMutator{g, s, x} })
	return err
}

type expressionMutator struct {
	*mutantGenerator
	suite *PolicySuite
	x     policy.Expression
}

// Probes implements policy.ExpressionObserver.
func (m *expressionMutator) Probes(checked *cel.Ast) map[int64]eval.Probe {
	source := m.x.Source
	if slices.Contains(removable, m.x.Part) && strings.TrimSpace(source) != "true" {
		m.add(&Mutant{Operator: opRemoved}, "true")
	}
	found, more := edits(checked, source)
	if more {
		m.cut++
	}
	for _, e := range found {
		changed := e.apply(source)
		m.add(&Mutant{Changed: changed, Start: e.start, End: e.end, Operator: e.operator}, changed)
	}
	return nil
}

// Ran implements policy.ExpressionObserver.
func (m *expressionMutator) Ran(*bool, error) {}

func (m *expressionMutator) add(mutant *Mutant, source string) {
	changed := m.x
	changed.Source = source
	mutant.Policy, mutant.Path, mutant.Index, mutant.Rule, mutant.change.expression = m.x.Policy, m.x.Path, m.x.Index, m.x.Source, changed
	m.put(key{policy: m.x.Policy, path: m.x.Path, was: m.x.Source, is: source}, target{policies: m.suite}, mutant)
}

func (m *Mutant) policyTests(s *PolicySuite) (all tests, err error) {
	cases := slices.DeleteFunc(slices.Clone(s.Cases), func(c PolicyCase) bool {
		included, evaluated := c.Policies[m.Policy]
		return !evaluated || !included && m.change.expression.Part != policy.PartCondition
	})
	if len(cases) == 0 {
		return tests{}, nil
	}
	changed, err := s.Set.WithExpression(m.change.expression)
	return tests{len(cases), func(ctx context.Context, i int) (name string, passes bool, problem string, err error) {
		passes, problem, err = cases[i].Passes(ctx, changed)
		return cases[i].Name, passes, problem, err
	}}, err
}
