package verdict

import (
	"context"
	"errors"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/trace"
)

// A Reply is the response to a write, as check --pipe prints it. Its JSON form is fixed.
type Reply struct {
	Verdict  string          `json:"verdict"`
	Status   *finding.Status `json:"status,omitempty"`
	Causes   []finding.Cause `json:"causes"`
	Warnings []string        `json:"warnings"`
	Cost     int64           `json:"cost"`
	// Object is the object as it would be persisted.
	Object map[string]any `json:"object,omitempty"`
	// Problem explains a missing verdict, or names the rules of the CRD that do not compile. As in the API server, such
	// a rule rejects every value that it applies to, and the other checks are unaffected.
	Problem string `json:"problem,omitempty"`
}

// Unanswered returns the reply to a request that could not be decided.
func Unanswered(verdict string, err error) *Reply {
	return &Reply{Verdict: verdict, Causes: []finding.Cause{}, Warnings: []string{}, Problem: err.Error()}
}

// Reply validates req.Raw and returns the response of the pipe protocol. It sets the request's field validation from d.
func (d *Decider) Reply(ctx context.Context, req *engine.Request) *Reply {
	req.FieldValidation = d.Validation
	obj, err := engine.Decode(req.Raw)
	if err != nil {
		return Unanswered(finding.Unreadable, fmt.Errorf("object: %w", err))
	}
	id := input.Identify(obj)
	def, typed := d.CRDs.addressee(obj, id)
	if def == nil {
		return Unanswered(finding.Skipped, fmt.Errorf("no usable CRD given for %s", id.GroupKind()))
	}
	out := outcome{}
	if typed {
		out = def.unserved(id)
	}
	if out.verdict == "" {
		out = validate(ctx, def.engine, *req)
	}
	if out.status == nil && out.result == nil {
		return Unanswered(out.verdict, errors.New(out.problem))
	}
	reply := &Reply{Verdict: out.verdict, Status: out.status, Causes: []finding.Cause{}, Warnings: []string{}}
	res := out.result
	if res == nil {
		return reply
	}
	reply.Cost, reply.Object, reply.Warnings = res.Cost, res.Object, append(reply.Warnings, res.Warnings...)
	switch {
	case !res.Allowed:
		reply.Causes = finding.NewCauses(res.Causes)
		if _, err := def.explain(ctx, res, maxExplained, reply.Causes, new(trace.Run).Allowance(), nil); err != nil {
			reply.Problem = err.Error()
		}
		if res.Undecided != nil {
			reply.Verdict, reply.Problem = finding.Undecided, res.Undecided.Error()
		}
	case len(req.Raw) > fitsBelow:
		reply.Warnings = append(reply.Warnings, tooLarge(func() ([]byte, error) { return req.Raw, nil }, res)...)
	}
	if reply.Problem == "" && len(def.problems) > 0 {
		reply.Problem = errors.Join(def.problems...).Error()
	}
	return reply
}

// maxExplained limits the causes for which the values in their rules are added.
const maxExplained = 100
