package find

import (
	"context"
	"errors"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/prove"
	"github.com/celadon-cel/celadon/x/analysis/prove/smtlib"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

// openSolver starts the program of --solver once, to know its version.
func (o *Options) openSolver(ctx context.Context) (err error) {
	if o.Solver == "" {
		return nil
	}
	if o.solver, err = smtlib.Open(ctx, o.Solver); err != nil {
		return &command.ExitError{Code: command.Usage, Err: fmt.Errorf("--solver: %w", err)}
	}
	return nil
}

// provable are the questions that have a proof of their own.
var provable = map[search.Want]prove.Outcome{search.Refused: prove.Refused, search.Errs: prove.Failed}

// outside asks the external solver, if there is one, what neither a proof nor the
// search has decided. No rule is a whole version.
func (v *asking) outside(f *Finding, want search.Want, ref *engine.RuleRef) error {
	if v.o.solver == nil || f.Status != search.Unknown {
		return nil
	}
	if v.o.asked.Add(1) > maxAsked {
		f.Reason = fmt.Sprintf("%s was asked %d questions: that is enough", v.o.solver.Name, maxAsked)
		return nil
	}
	var failed error
	p := v.proverWith(prove.Config{Outside: func(script string, assumed []string) ([]string, bool, error) {
		answer, core, err := v.o.solver.Ask(v.ctx, script, assumed)
		failed = errors.Join(failed, err)
		return core, answer == smtlib.Unsatisfiable, err
	}})
	outcome, one := provable[want]
	switch {
	case p == nil:
		return nil
	case one:
		if proof, _ := p.Never(*ref, outcome); proof != nil {
			f.Status, f.Proof = never, proof.String()
		}
	case want == search.Accepted && ref != nil:
		f.neverAccepted(p, ref.Path)
	case want == search.Accepted:
		f.neverAccepted(p, "")
	default:
		return nil
	}
	f.Solver = v.o.solver.Name
	if failed != nil && f.Status == search.Unknown && v.ctx.Err() == nil {
		f.Reason = failed.Error() // one strange answer is no reason to lose the others
		v.o.strange.CompareAndSwap(nil, &failed)
	}
	return v.ctx.Err()
}

// maxAsked is how many questions an external solver gets: each may take it as long as
// it may.
const maxAsked = 1000

// bySolver names the solver beside its answer.
func (f *Finding) bySolver() string {
	switch {
	case f.Solver == "":
		return ""
	case f.Status == never:
		return ", by " + string(untrusted.Line(f.Solver))
	case f.Reason != "":
		return ", and " + string(untrusted.Line(f.Reason))
	}
	return ", and " + string(untrusted.Line(f.Solver)) + " has no proof"
}
