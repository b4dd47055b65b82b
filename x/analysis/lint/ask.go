package lint

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/x/analysis/prove"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/analysis/work"
)

// Never is the status of a question for which there is a proof that nothing can
// be found.
const Never search.StatusWord = "never"

// Answer is a witness, or a proof that there is none, or neither.
type Answer struct {
	search.Answer
	// Proof is there when the status is Never.
	Proof *prove.Proof
	// MadeUp are the places of the witness whose values are passwords.
	MadeUp []string
}

// Asker answers questions about the rules of one version of a CRD. It is not safe
// for concurrent use.
type Asker struct {
	search *search.Search
	prover *prove.Prover // nil where no object can be written
	work   *work.Meter
}

// NewAsker is for a version of a CRD that the engine was compiled from; "" is the
// storage version. The CRD must not change afterwards.
func NewAsker(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine, version string, cfg Config) (*Asker, error) {
	s, err := search.New(crd, e, version, search.Config{Steps: cfg.steps(), Seed: cfg.Seed})
	if err != nil {
		return nil, err
	}
	a := &Asker{search: s, work: cfg.work}
	s.Charge(a.work)
	for i := range crd.Spec.Versions {
		of := &crd.Spec.Versions[i]
		if (of.Name == version || version == "" && of.Storage) && of.Served {
			if a.prover, err = prove.New(of, prove.Config{KubeVersion: cfg.KubeVersion}); err == nil {
				a.prover.Charge(a.work)
			}
		}
	}
	return a, err
}

// Rules are the version's rules, by place.
func (a *Asker) Rules() []engine.RuleRef { return a.search.Rules() }

// Ask says by which write a rule does what is wanted. The error is for a cancelled
// context, a rule that the version does not have, or a bug of ours.
func (a *Asker) Ask(ctx context.Context, rule engine.RuleRef, want search.Want) (*Answer, error) {
	before := a.work.Spent()
	if proof := a.never(rule, want); proof != nil {
		return &Answer{Answer: search.Answer{Status: Never}, Proof: proof}, nil
	}
	found, err := a.search.Find(ctx, rule, want)
	if err != nil {
		return nil, err
	}
	if found.Status == search.Unknown {
		a.work.Unanswered(a.work.Spent() - before)
	}
	answer := &Answer{Answer: *found}
	if w := found.Witness; w != nil {
		answer.MadeUp = append(a.search.Passwords(w.Object), a.search.Passwords(w.Old)...)
	}
	return answer, nil
}

// never proves that a rule does not do what is wanted; nil where there is no proof.
func (a *Asker) never(rule engine.RuleRef, want search.Want) *prove.Proof {
	if a.prover == nil {
		return nil
	}
	var proof *prove.Proof
	switch want { // what cannot be analysed, the search says
	case search.Refused:
		proof, _ = a.prover.Never(rule, prove.Refused)
	case search.Errs:
		proof, _ = a.prover.Never(rule, prove.Failed)
	case search.Accepted:
		proof, _ = a.prover.AcceptsNothing(rule.Path)
	}
	return proof
}

// Words say what became of a question, for people: "refused: this object (create)".
func (a *Answer) Words(want search.Want) string {
	switch a.Status {
	case search.Unserved:
		return "not asked: " + a.Reason
	case search.NotAnalysed:
		return "not analysed: " + a.Reason
	case Never:
		return fmt.Sprintf("%s: proved (%s)", impossible[want], a.Proof)
	case search.Unknown:
		found := phrase.Searched(a.Searched, a.Lists)
		if a.Limited {
			found += "; " + a.Reason
		}
		return fmt.Sprintf("none found%s: %s", wanted[want], found)
	}
	text := fmt.Sprintf("%s: this object (%s)", found[want], a.Witness.Operation)
	if want == search.Refused && !a.Witness.Alone {
		text += ", for other reasons too"
	}
	return text
}

var (
	found = map[search.Want]string{
		search.Refused: "refused", search.Accepted: "accepted", search.Errs: "fails to evaluate", search.OverBudget: "costs more than it may",
	}
	impossible = map[search.Want]string{
		search.Refused: "no such object", search.Accepted: "no object is accepted", search.Errs: "no object on which the rule fails",
	}
	wanted = map[search.Want]string{
		search.Accepted: " that is accepted", search.Errs: " on which the rule fails", search.OverBudget: " that costs too much",
	}
)
