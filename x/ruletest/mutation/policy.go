package mutation

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
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
var removable = []string{"matchCondition", "validation"}

// RunPolicies generates the mutants of the validations, matchConditions, and variables of policies and
// tries them. Equivalent mutants are not detected. It returns ctx's error or an internal error.
func RunPolicies(ctx context.Context, suites []PolicySuite, cfg Config) (*Report, error) {
	if cfg.Workers <= 0 {
		cfg.Workers = runtime.GOMAXPROCS(0)
	}
	g := &policyMutantGenerator{known: map[policyKey]*Mutant{}}
	for i := range suites {
		if err := g.suite(&suites[i]); err != nil {
			return nil, err
		}
	}
	if err := tryAll(ctx, g.all, cfg); err != nil {
		return nil, err
	}
	report := &Report{Survivors: []*Mutant{}, Mutants: g.all, Cut: g.cut}
	slices.SortStableFunc(report.Mutants, func(a, b *Mutant) int { return cmp.Compare(a.Policy, b.Policy) })
	report.count()
	return report, nil
}

// Add adds the results of other to r.
func (r *Report) Add(other *Report) {
	joined := &Report{Survivors: []*Mutant{}, Mutants: slices.Concat(r.Mutants, other.Mutants), Failing: slices.Concat(r.Failing, other.Failing), Cut: r.Cut + other.Cut}
	joined.count()
	*r = *joined
}

// policyKey identifies equal changes of policies.
type policyKey struct{ policy, path, was, is string }

// policyChange is the change of an expression in all suites that have it.
type policyChange struct {
	expression policy.Expression // with the changed source
	suites     []*PolicySuite
}

type policyMutantGenerator struct {
	known map[policyKey]*Mutant
	all   []*Mutant
	cut   int
}

func (g *policyMutantGenerator) suite(s *PolicySuite) error {
	// Probes are called with the checked expressions. No expression is evaluated.
	_, err := s.Set.Watch(func(x policy.Expression) policy.ExpressionObserver { return &expressionMutator{g, s, x} })
	return err
}

type expressionMutator struct {
	*policyMutantGenerator
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

// add adds a mutant, or adds the suite to an equal mutant.
func (m *expressionMutator) add(mutant *Mutant, source string) {
	k := policyKey{m.x.Policy, m.x.Path, m.x.Source, source}
	if known := m.known[k]; known != nil {
		if !slices.Contains(known.policies.suites, m.suite) {
			known.policies.suites = append(known.policies.suites, m.suite)
		}
		return
	}
	mutant.Policy, mutant.Path, mutant.Index, mutant.Rule, mutant.Original = m.x.Policy, m.x.Path, m.x.Index, m.x.Source, m.x.Source
	mutant.policies = &policyChange{expression: m.x, suites: []*PolicySuite{m.suite}}
	mutant.policies.expression.Source = source
	m.known[k] = mutant
	m.all = append(m.all, mutant)
}

// tryPolicy determines the status of a mutant of a policy.
func (m *Mutant) tryPolicy(ctx context.Context) error {
	m.Status = NotCovered
	for _, s := range m.policies.suites {
		hits := slices.DeleteFunc(slices.Clone(s.Cases), func(c PolicyCase) bool {
			included, evaluated := c.Policies[m.Policy]
			return !evaluated || !included && m.policies.expression.Part != "matchCondition"
		})
		if len(hits) == 0 {
			continue
		}
		changed, err := s.Set.WithExpression(m.policies.expression)
		if err != nil {
			m.Status, m.Reason = NotViable, err.Error()
			return nil
		}
		m.Status = Survived
		for _, c := range hits {
			passes, problem, err := c.Passes(ctx, changed)
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", c.Name, err)
			case problem != "":
				m.Status, m.Reason = TimedOut, c.Name+": "+problem
				return nil
			case !passes:
				m.Status, m.KilledBy = Killed, c.Name
				return nil
			}
		}
	}
	return nil
}
