package analysis

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/prove"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/analysis/work"
	"github.com/celadon-cel/celadon/x/secret"
)

// Rules returns the rules of the version.
func (a *Analyzer) Rules() []engine.RuleRef { return a.search.Rules() }

// Charge makes the following questions charge m.
func (a *Analyzer) Charge(m *work.Meter) {
	a.meter = m
	if a.search != nil {
		a.search.Charge(m)
	}
	if a.prover != nil {
		a.prover.Charge(m)
	}
}

// Meter returns the meter that questions charge.
func (a *Analyzer) Meter() *work.Meter { return a.meter }

// Ask looks for a write with which rule has the outcome want, and returns it, a proof that no such
// write exists, or neither. It returns an error if ctx is done, if the version does not have the
// rule, or on an internal error.
func (a *Analyzer) Ask(ctx context.Context, rule engine.RuleRef, want search.Want) (*Answer, error) {
	m := a.meter
	if m.Empty() {
		return &Answer{Answer: search.Answer{Status: search.Unknown, Limited: true, Reason: m.Reason()}}, nil
	}
	before := m.Spent()
	answer, err := a.ask(ctx, rule, want)
	if err == nil && answer.Status == search.Unknown && want != search.OverBudget { // its witnesses are large, so searches take long
		m.Unanswered(m.Spent() - before)
	}
	return answer, err
}

func (a *Analyzer) ask(ctx context.Context, rule engine.RuleRef, want search.Want) (*Answer, error) {
	served := a.version.Served // otherwise the search reports the unserved version
	if served && want == search.OverBudget && a.cfg.CostProof != nil {
		proof, err := a.cfg.CostProof(ctx, rule)
		if err != nil {
			return nil, err
		}
		if proof != "" {
			return &Answer{Answer: search.Answer{Status: Never}, Estimates: proof}, nil
		}
	}
	question, err := a.search.Question(ctx, rule, want)
	if err != nil {
		return nil, err
	}
	if served && want == search.Rejected { // most rules reject an object that is found faster than a proof fails
		if found, err := question.Try(); err != nil || found != nil && found.Status == search.Found {
			return a.answer(found, err)
		}
	}
	if served {
		if proof := a.Prove(rule, want); proof != nil {
			return &Answer{Answer: search.Answer{Status: Never}, Proof: proof}, nil
		}
	}
	answer, err := a.answer(question.Find())
	if err == nil && want == search.Accepted {
		a.proveNoneAccepted(answer, rule.Path)
	}
	return answer, err
}

// Prove returns a proof that rule never has the outcome want, or nil. Only Rejected and Errs can be proved.
func (a *Analyzer) Prove(rule engine.RuleRef, want search.Want) *prove.Proof {
	outcome, ok := map[search.Want]prove.Outcome{search.Rejected: prove.Rejected, search.Errs: prove.Failed}[want]
	if !ok {
		return nil
	}
	return a.proof(func(p *prove.Prover) (*prove.Proof, error) { return p.Never(rule, outcome) })
}

// proof returns the result of find. It returns nil if find returns an error, because a search also reports
// rules that cannot be analyzed.
func (a *Analyzer) proof(find func(*prove.Prover) (*prove.Proof, error)) *prove.Proof {
	if a.prover == nil && a.version != nil {
		if p, err := prove.New(a.version, prove.Config{KubeVersion: a.kubeVersion}); err == nil {
			p.Charge(a.meter)
			a.prover = p
		}
	}
	if a.prover == nil {
		return nil
	}
	proof, _ := find(a.prover)
	return proof
}

// Search is like Ask, but only looks for a write, not for a proof.
func (a *Analyzer) Search(ctx context.Context, rule engine.RuleRef, want search.Want) (*Answer, error) {
	return a.answer(a.search.Find(ctx, rule, want))
}

// Sample returns an object that the version accepts, with as many fields as possible if full, else with
// as few as possible; a proof that it accepts no object; or neither.
func (a *Analyzer) Sample(ctx context.Context, full bool) (*Answer, error) {
	answer, err := a.answer(a.search.Sample(ctx, full))
	if err == nil {
		a.proveNoneAccepted(answer, "")
	}
	return answer, err
}

// Samples calls yield with up to n random objects that the version accepts, with their
// defaults, until yield returns false.
func (a *Analyzer) Samples(ctx context.Context, n int, yield func(obj map[string]any) bool) error {
	return a.search.Samples(ctx, n, yield)
}

func (a *Analyzer) answer(found *search.Answer, err error) (*Answer, error) {
	if err != nil {
		return nil, err
	}
	answer := &Answer{Answer: *found}
	if w := found.Witness; w != nil {
		for _, obj := range []map[string]any{w.Object, w.Old} {
			answer.MadeUp = append(answer.MadeUp, secret.Of(a.definition, obj).PathStrings()...)
		}
	}
	return answer, nil
}

// AcceptsNothing returns a proof that no accepted object has a value at path, or nil.
func (a *Analyzer) AcceptsNothing(path string) *prove.Proof {
	return a.proof(func(p *prove.Prover) (*prove.Proof, error) { return p.AcceptsNothing(path) })
}

// proveNoneAccepted looks for a proof that no accepted object has a value at path, if the
// search found no such object. Often the field, or a field above it, exists only for a rule that
// forbids it.
func (a *Analyzer) proveNoneAccepted(answer *Answer, path string) {
	if answer.Status != search.Unknown {
		return
	}
	steps, err := engine.ParsePath(path)
	if err != nil {
		return
	}
	for n := range len(steps) + 1 {
		above := engine.FormatPath(steps[:n])
		if proof := a.AcceptsNothing(above); proof != nil {
			answer.Status, answer.ForbiddenPath, answer.Proof = Never, above, proof
			return
		}
	}
}

// Equal returns a proof that replacing rule by instead does not change which objects are rejected, or nil.
func (a *Analyzer) Equal(rule engine.RuleRef, instead apiextensionsv1.ValidationRule) *prove.Proof {
	return a.proof(func(p *prove.Prover) (*prove.Proof, error) { return p.Equal(rule, instead) })
}

// Passes returns a proof that a rule of next rejects nothing that a's version accepts, or nil.
func (a *Analyzer) Passes(next *Analyzer, rule engine.RuleRef) *prove.Proof {
	return next.proof(func(other *prove.Prover) (*prove.Proof, error) {
		return a.proof(func(p *prove.Prover) (*prove.Proof, error) { return p.Passes(other, rule) }), nil
	})
}

// Form returns a search in a's version with the rules of e, which may differ from the rules of the definition.
func (a *Analyzer) Form(e *engine.Engine) *search.Search { return a.search.Form(e) }
