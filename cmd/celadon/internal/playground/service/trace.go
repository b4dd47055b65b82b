package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/x/trace"
	"github.com/celadon-cel/celadon/x/trace/record"
)

// traceReply is the response to trace: the parts of a rule, each followed by its operands.
type traceReply struct {
	Parts []tracedPart `json:"parts"`
	Cost  uint64       `json:"cost"`
	Error string       `json:"error,omitempty"`
}

type tracedPart struct {
	Text  string `json:"text"`
	Depth int    `json:"depth"`
	// Value is abbreviated JSON, or "" if the part was not evaluated.
	Value string `json:"value"`
	Cost  uint64 `json:"cost"`
}

func (r *Service) trace(ctx context.Context, req *Request) (any, error) {
	all, err := r.checked(ctx, req)
	if err != nil {
		return nil, err
	}
	if req.Item < 0 || req.Item >= len(all.Objects) {
		return nil, fmt.Errorf("item %d: there are %d objects", req.Item, len(all.Objects))
	}
	o := &all.Objects[req.Item]
	if req.Run < 0 || req.Run >= len(o.Runs) {
		return nil, fmt.Errorf("run %d: there are %d", req.Run, len(o.Runs))
	}
	ran := &o.Runs[req.Run]
	p, err := trace.NewExplainer(o.Engine).Program(*ran.Rule)
	var t *record.Trace
	if err == nil {
		t, err = p.Run(ctx, ran.Self, ran.Old, record.NewBudget(record.MaxObjectWork))
	}
	var over *eval.OverworkError
	switch {
	case errors.As(err, &over):
		return nil, fmt.Errorf("too much to explain: %w", err)
	case err != nil:
		return nil, err
	}
	answer := &traceReply{Parts: []tracedPart{}, Cost: t.Cost}
	if t.Err != nil {
		answer.Error = t.Err.Error()
	}
	for _, p := range t.Tree() {
		one := tracedPart{Text: p.Text, Depth: p.Depth, Cost: p.Cost}
		if p.Ran && p.Value != nil {
			one.Value = finding.Preview(expr.Native(p.Value), o.Secrets)
		}
		answer.Parts = append(answer.Parts, one)
	}
	return answer, nil
}
