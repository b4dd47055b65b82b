package ruletest

import (
	"context"
	"errors"

	"github.com/celadon-cel/celadon/engine"
)

// trial is one case on one target.
type trial struct {
	ctx context.Context
	cfg *Config
	// on is the CRD version under test, before the one that the old object is
	// stored under: on itself, or on with the case's patches.
	on, before *target
	outcome
	recorded []Write
}

// outcome is what came of a case.
type outcome struct {
	// result is the answer to the write that the case is about, and where the place
	// of a field of what was written.
	result *engine.Result
	where  func(field string) Place
	// staged: the case did not get to that write; status: it is one of the status.
	staged, status bool
	wrong          []Mismatch
	remarks        []string
	// problem is why there is no verdict.
	problem string
	bug     error
}

// Mismatch is one thing that is not as expected.
type Mismatch struct {
	// Place is where it is expected.
	Place
	Want string `json:"want"`
	Got  string `json:"got"`
}

func (o *outcome) wrongAt(at Place, want, got string) {
	o.wrong = append(o.wrong, Mismatch{at, want, got})
}

func (o *outcome) remark(text string) {
	for _, known := range o.remarks {
		if known == text {
			return
		}
	}
	o.remarks = append(o.remarks, text)
}

// write asks a target; nil where there is no answer, of which the outcome tells.
func (t *trial) write(on *target, req engine.Request) *engine.Result {
	req.Observe = on.observe
	res, err := on.engine.Validate(t.ctx, req)
	var limit *engine.WorkLimitError
	var unchecked *engine.NotCheckedError
	switch {
	case err == nil:
		return res
	case errors.As(err, &limit), errors.As(err, &unchecked):
		t.problem = err.Error()
	case t.ctx.Err() != nil:
		t.problem = "interrupted"
	default:
		t.problem, t.bug = err.Error(), err
	}
	return nil
}

// keep notes a write for who measures tests: what of its answer the case asks for.
func (t *trial) keep(on *target, req engine.Request, passes func(*engine.Result) bool) {
	if t.cfg.Writes == nil || on != t.on {
		return
	}
	t.recorded = append(t.recorded, Write{req, func(res *engine.Result, err error) bool { return err == nil && passes(res) }})
}

// set does a write that only sets the stage; it has to be accepted.
func (t *trial) set(on *target, what string, at Place, req engine.Request) *engine.Result {
	res := t.write(on, req)
	if res == nil {
		return nil
	}
	t.keep(on, req, func(res *engine.Result) bool { return res.Allowed })
	if res.Allowed {
		return res
	}
	t.result, t.staged = res, true
	t.wrongAt(at, what+" is accepted", "refused: "+res.Failure.Message)
	return nil
}
