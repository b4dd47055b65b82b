package analysis

import (
	"fmt"

	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/x/analysis/prove"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

// Never is the status of a question if there is a proof that no object shows the outcome.
const Never search.StatusWord = "never"

// An Answer is the result of a question. It holds a witness (a write that has the outcome), a proof
// that no such write exists, or neither.
type Answer struct {
	search.Answer
	// Proof is set if the status is Never and Estimates is empty.
	Proof *prove.Proof
	// Estimates are the cost estimates that show that the rule cannot exceed a cost limit.
	Estimates string
	// ForbiddenPath is the path that no accepted object has, if Proof shows that; "" is the whole object.
	ForbiddenPath string
	// MadeUp lists the paths of generated passwords in the objects of the witness.
	MadeUp []string
}

// ProofText returns the assumptions of the proof, or the estimates that prove the result. It is "" if a
// has no proof.
func (a *Answer) ProofText() string {
	if a.Proof != nil {
		return a.Proof.String()
	}
	return a.Estimates
}

// Words returns the result as a phrase, such as "rejected: this object (create)". It may contain
// names from the CRD.
func (a *Answer) Words(want search.Want) string {
	switch a.Status {
	case search.Unserved:
		return "not searched: " + a.Reason
	case search.NotAnalyzed:
		return "not analyzed: " + a.Reason
	case Never:
		if a.ForbiddenPath != "" {
			return fmt.Sprintf("never set: no accepted object has %s: proved (%s)", a.ForbiddenPath, a.Proof)
		}
		return fmt.Sprintf("%s: proved (%s)", outcomeWords[want].impossible, a.ProofText())
	case search.Unknown:
		text := fmt.Sprintf("no object found%s: %s", outcomeWords[want].missing, phrase.Searched(a.Searched, a.Lists))
		if a.Limited {
			text += "; " + a.Reason
		}
		return text
	}
	text := fmt.Sprintf("%s: this object (%s)", outcomeWords[want].found, a.Witness.Operation)
	if want == search.Rejected && !a.Witness.Alone {
		text += ", for other reasons too"
	}
	return text
}

var outcomeWords = map[search.Want]struct{ found, impossible, missing string }{
	search.Rejected:   {"rejected", "no such object", ""},
	search.Accepted:   {"accepted", "no object is accepted", " that is accepted"},
	search.Errs:       {"fails to evaluate", "no object on which the rule fails", " on which the rule fails"},
	search.OverBudget: {"exceeds its cost limit", "no object on which it exceeds its cost limit", " on which it exceeds its cost limit"},
}
