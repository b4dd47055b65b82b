package requests

import (
	"context"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine/policy"
)

// FindAgainst searches for a request that a validation denies and that the policies of another Finder for
// the same version accept. It returns an error if f does not have the validation, if ctx is done, or on an
// internal error.
func (f *Finder) FindAgainst(ctx context.Context, v Validation, other *Finder) (*Answer, error) {
	d, err := f.document(v)
	if err != nil {
		return nil, err
	}
	return f.answer(ctx, &question{Finder: f, document: d, index: v.Index, want: Denied, other: other})
}

// differs reports whether the validation denies a request that the other policies accept. It sets
// q.deniedByBoth.
func (q *question) differs(ctx context.Context, req *policy.Request) (bool, error) {
	q.deniedByBoth = false
	res, err := q.evaluate(ctx, q.Finder, req)
	if err != nil {
		return false, err
	}
	if q.note(req, res.Undecided, q.document.name); res.Allowed {
		return false, nil
	}
	if _, actions, _ := q.decision(res); !slices.Contains(actions, policy.ActionDeny) {
		return false, nil
	}
	if res, err = q.evaluate(ctx, q.other, req); err == nil && res.Allowed {
		q.note(req, res.Undecided, "")
	}
	q.deniedByBoth = err == nil && !res.Allowed
	return err == nil && res.Allowed && len(res.Undecided) == 0, err
}

// butAccepted returns a rule that is false if the given rule is false and the other policies accept the
// request. It ignores validations that cannot be translated.
func (q *question) butAccepted(rule string, operation policy.Operation) string {
	var accepts []string
	for _, d := range q.other.policies {
		t := newTranslator(d, operation, q.request(operation, nil, nil))
		for _, validation := range d.validations {
			if other, ok := t.translate(validation, 0); ok && (!t.usesOld || operation == policy.OperationUpdate) {
				accepts = append(accepts, "("+other+")")
			}
		}
	}
	if len(accepts) == 0 {
		return rule
	}
	return "(" + rule + ") || !(" + strings.Join(accepts, " && ") + ")"
}
