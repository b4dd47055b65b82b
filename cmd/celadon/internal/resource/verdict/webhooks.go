package verdict

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// matchWebhooks records the webhooks that a server would call for a request. A webhook whose conditions fail can end it.
// The outcomes are those of mutating and of validating webhooks.
func (d *decision) matchWebhooks(ctx context.Context, req policy.Request) (mutating, validating outcome) {
	set := d.Admission.Policies.Set
	if set.Webhooks() == 0 {
		return outcome{}, outcome{}
	}
	matches, err := set.MatchWebhooks(ctx, req)
	if err != nil {
		return failed(err), outcome{}
	}
	for _, m := range matches {
		to := &mutating
		if m.Kind == "ValidatingWebhookConfiguration" {
			to = &validating
		}
		d.report.Webhooks = append(d.report.Webhooks, finding.Webhook{
			Kind: m.Kind, Configuration: m.Configuration, Webhook: m.Webhook, Called: m.Called, Condition: m.Condition,
			Error: m.Failure, Undecided: m.Undecided,
		})
		switch {
		case m.Called:
			count, _ := d.calls.LoadOrStore(m.Webhook, new(atomic.Int64))
			count.(*atomic.Int64).Add(1)
		case to.verdict != "":
		case m.Undecided != "":
			*to = outcome{verdict: finding.Undecided, problem: "webhook " + m.Webhook + ": " + m.Undecided}
		case m.Denied:
			status := apierrors.NewForbidden(req.Resource.GroupResource(), req.Name, errors.New(m.Failure)).Status()
			*to = denied(&status, req.Resource.Resource)
		}
	}
	return mutating, validating
}

// callNotes returns a remark about the webhooks that a server would have called, or nil.
func (d *Decider) callNotes() (notes []error) {
	var list []string
	d.calls.Range(func(webhook, count any) bool {
		list = append(list, fmt.Sprintf("%s (for %s)", webhook, phrase.Count(int(count.(*atomic.Int64).Load()), "request")))
		return true
	})
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	more := ""
	if n := len(list) - maxNoted; n > 0 {
		list, more = list[:maxNoted], fmt.Sprintf(", and %d more", n)
	}
	return []error{fmt.Errorf("webhooks that a server would call, and that were not called: %s%s", strings.Join(list, ", "), more)}
}
