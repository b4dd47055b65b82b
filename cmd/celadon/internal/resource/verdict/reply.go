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

// Reply decides the write of a raw object. It sets the request's field validation from c.
func (c *Decider) Reply(ctx context.Context, req *engine.Request) *Reply {
	req.FieldValidation = c.Validation
	obj, err := engine.Decode(req.Raw)
	if err != nil {
		return Unanswered(finding.Unreadable, fmt.Errorf("object: %w", err))
	}
	id := input.Identify(obj)
	def, typed := c.CRDs.addressee(obj, id)
	if def == nil {
		return Unanswered(finding.Skipped, fmt.Errorf("no usable CRD given for %s", id.GroupKind()))
	}
	rep := &finding.Object{Identity: id}
	if typed && unserved(def, rep) {
		return &Reply{Verdict: rep.Verdict, Status: rep.Status, Causes: []finding.Cause{}, Warnings: []string{}}
	}
	res, ok := validate(ctx, def.engine, *req, rep)
	if !ok {
		return Unanswered(rep.Verdict, errors.New(rep.Problem))
	}
	out := newReply(ctx, def, res)
	if res.Allowed && len(req.Raw) > fitsBelow {
		out.Warnings = append(out.Warnings, tooLarge(func() ([]byte, error) { return req.Raw, nil }, res)...)
	}
	if out.Problem == "" && len(def.problems) > 0 {
		out.Problem = errors.Join(def.problems...).Error()
	}
	return out
}

// newReply returns the reply for a result.
func newReply(ctx context.Context, def *Definition, res *engine.Result) *Reply {
	out := &Reply{Verdict: finding.Valid, Causes: []finding.Cause{}, Warnings: append([]string{}, res.Warnings...), Cost: res.Cost, Object: res.Object}
	if res.Allowed {
		return out
	}
	out.Verdict = finding.Invalid
	out.Status = &finding.Status{Code: res.Failure.Code, Reason: string(res.Failure.Reason), Message: res.Failure.Message}
	out.Causes = finding.NewCauses(res.Causes)
	if _, err := explain(ctx, def, res.Prepared, res.Causes[:min(maxExplained, len(res.Causes))], out.Causes, new(trace.Run).Allowance(), nil); err != nil {
		out.Problem = err.Error()
	}
	if res.Undecided != nil {
		out.Verdict, out.Problem = finding.Undecided, res.Undecided.Error()
	}
	return out
}

// maxExplained limits the causes for which the values in their rules are added.
const maxExplained = 100
