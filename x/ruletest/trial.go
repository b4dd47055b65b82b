package ruletest

import (
	"context"
	"slices"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/ruletest/mutation"
)

type trial struct {
	ctx context.Context
	cfg *Config
	// on is the CRD version under test. before is the version under which the old object is stored:
	// on, or on with the case's patches.
	on, before *target
	// policies are the policies of the suite, or nil, and set is compiled from them for on.
	policies *Policies
	set      *policy.Set
	// seen is the request that validating policies see if a built-in kind is written, or nil.
	seen            *policy.Request
	observePolicies PolicyObserver
	recorded        []mutation.Write
	// again is set if a result of the case is checked again, so that conversions are not repeated. withSet
	// checks the case with other policies. It is nil if no validating policy was evaluated.
	again   bool
	withSet func(context.Context, *policy.Set) (passes bool, problem string, err error)

	// result is the result of the write that the case checks, or of an earlier write that was
	// rejected. where returns the position of a field of the written object.
	result *engine.Result
	where  func(field string) Position
	// decisions are the decisions of validating policies in evaluations. denied is set if a policy
	// or the condition of a webhook denies the write. describePolicies sets decisions, with the
	// values of expressions if explain is set. It is nil if no validating policy was evaluated.
	decisions        []policyrequest.Decision
	evaluations      []policy.Evaluation
	denied           bool
	describePolicies func(ctx context.Context, explain bool) error
	// staged is set if an earlier write was rejected; status if the write is a status update.
	staged, status bool
	wrong          []Mismatch
	remarks        []string
	problem        string
	// unknown is the reason why there may be other decisions of policies, or "".
	unknown string
	bug     error
}

// Mismatch is a difference from an expectation.
type Mismatch struct {
	// Position is the position of the expectation.
	Position
	Want string `json:"want"`
	Got  string `json:"got"`
}

func (t *trial) wrongAt(at Position, want, got string) {
	t.wrong = append(t.wrong, Mismatch{at, want, got})
}

func (t *trial) remark(text string) {
	if !slices.Contains(t.remarks, text) {
		t.remarks = append(t.remarks, text)
	}
}

// write validates req on a target. Without a verdict, it returns nil and sets the problem of t.
func (t *trial) write(on *target, req engine.Request) *engine.Result {
	req.Observe = on.observe
	res, err := on.engine.Validate(t.ctx, req)
	if err != nil {
		t.fail(err)
		return nil
	}
	return res
}

// recordWrite records a write on the CRD under test for Config.Record. passes reports whether the
// case passes with a result.
func (t *trial) recordWrite(on *target, req engine.Request, passes func(*engine.Result) bool) {
	if !t.cfg.Record || on != t.on {
		return
	}
	passed := func(res *engine.Result, err error) bool { return err == nil && passes(res) }
	t.recorded = append(t.recorded, mutation.Write{Request: req, Passes: passed})
}

// writeSetup does a preparatory write. It returns nil without a verdict, or if the write is
// rejected.
func (t *trial) writeSetup(on *target, description string, at Position, req engine.Request) *engine.Result {
	res := t.write(on, req)
	if res == nil {
		return nil
	}
	t.recordWrite(on, req, func(res *engine.Result) bool { return res.Allowed })
	if res.Allowed {
		return res
	}
	t.result, t.staged = res, true
	t.wrongAt(at, description+" is accepted", "rejected: "+res.Failure.Message)
	return nil
}
