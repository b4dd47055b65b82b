package compare

import (
	"context"
	"errors"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/prove"
	"github.com/celadon-cel/celadon/engine/search"
)

// answer is what became of a goal.
type answer struct {
	witness  *Witness
	proof    string // that there is none
	searched int
	reason   string // why there is no answer
}

// nothingAsked is the answer where a side asks for nothing that the other does
// not.
var nothingAsked = answer{proof: "it asks for less"}

// pursue looks for an object that base admits and other refuses, or keeps less
// of, because of what the goal says.
func (c *comparison) pursue(g *goal, base, other *side) (answer, error) {
	switch {
	case g == nil:
		return nothingAsked, nil
	case !base.version.Served && !other.version.Served && !base.version.Storage:
		return answer{proof: "the version is not served"}, nil
	}
	a := &asking{comparison: c, goal: g, base: base, other: other, relabel: relabelling(base, other)}
	err := a.ask()
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return answer{}, err
	}
	var bug *engine.InternalError
	if errors.As(err, &bug) {
		return answer{}, err
	}
	if err != nil {
		a.reason = err.Error()
	}
	return a.answer, nil
}

// asking is the work on one goal.
type asking struct {
	*comparison
	*goal
	answer
	base, other *side
	relabel     bool // the other side's version has another name
}

func relabelling(base, other *side) bool { return base.version.Name != other.version.Name }

func (a *asking) ask() error {
	h, ok := hybridOf(a.base, a.goal, false)
	if !ok {
		a.reason = "the place is not there"
		return nil
	}
	s, err := a.search(h)
	if err != nil && a.from != nil { // it speaks of what the base does not have
		if h, ok = hybridOf(a.base, a.goal, true); ok {
			s, err = a.search(h)
		}
	}
	if err != nil {
		return err
	}
	if a.provable() {
		if proof := a.proveNever(h); proof != nil {
			a.proof = proof.String()
			return nil
		}
	}
	if a.values != nil {
		return a.try(s, h)
	}
	return a.find(s, h)
}

// search prepares one in a hybrid; the error is of a rule that does not compile.
func (a *asking) search(h *hybrid) (*search.Search, error) {
	e, err := engine.Compile(h.crd, engine.Config{})
	var broken *engine.CompileErrors
	if errors.As(err, &broken) {
		for _, one := range broken.Errors {
			if one.Path == h.ref.Path && one.Index == h.ref.Index {
				return nil, one
			}
		}
	} else if err != nil {
		return nil, err
	}
	return search.New(h.crd, e, h.ref.Version, search.Config{Steps: a.cfg.Steps, Seed: a.cfg.Seed})
}

// provable: what is shown of the base's objects holds for the other side, since
// it sees the same values. Where defaults or types below the place differ it does
// not, nor where a loss is looked for.
func (a *asking) provable() bool {
	if a.values != nil {
		return false
	}
	before, after := at(a.base.schema(), a.goal.at.steps), at(a.other.schema(), a.goal.at.steps)
	return before != nil && after != nil && sameValues(before, after)
}

func (a *asking) proveNever(h *hybrid) *prove.Proof {
	p, err := prove.New(&h.crd.Spec.Versions[0], prove.Config{})
	if err != nil {
		return nil
	}
	proof, err := p.Never(h.ref, prove.Refused)
	if err != nil {
		return nil
	}
	return proof
}

// find searches for an object that the rule refuses, or fails on.
func (a *asking) find(s *search.Search, h *hybrid) error {
	for _, want := range []search.Want{search.Refused, search.Errs} {
		if want == search.Errs && a.from == nil {
			continue // what is made of the schema does not fail
		}
		found, err := s.Find(a.ctx, h.ref, want)
		if err != nil {
			return err
		}
		a.searched += found.Searched
		if found.Status == search.NotAnalysed {
			a.reason = found.Reason
			return nil
		}
		if found.Witness == nil {
			continue
		}
		if a.witness, err = a.show(found.Witness, h.grafted); a.witness != nil || err != nil {
			return err
		}
	}
	return nil
}
