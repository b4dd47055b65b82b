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

// Kinds of webhook configurations.
const (
	mutatingWebhooks   = "MutatingWebhookConfiguration"
	validatingWebhooks = "ValidatingWebhookConfiguration"
)

// matchWebhooks records the webhooks of a kind that a server would call for a request. A webhook whose conditions fail
// can end it.
func (d *decision) matchWebhooks(ctx context.Context, req policy.Request, kind string) (out outcome) {
	set := d.Admission.Policies.Set
	if set.Webhooks() == 0 || kind == mutatingWebhooks && d.mutatingMatched {
		return outcome{}
	}
	d.mutatingMatched = true
	matches, err := set.MatchWebhooks(ctx, req)
	if err != nil {
		return failed(err)
	}
	for _, m := range matches {
		if m.Kind != kind {
			continue
		}
		d.report.Webhooks = append(d.report.Webhooks, finding.Webhook{
			Kind: m.Kind, Configuration: m.Configuration, Webhook: m.Webhook, Called: m.Called, Condition: m.Condition,
			Error: m.Failure, Undecided: m.Undecided,
		})
		switch {
		case m.Called:
			count, _ := d.calls.LoadOrStore(m.Webhook, new(atomic.Int64))
			count.(*atomic.Int64).Add(1)
		case out.verdict != "":
		case m.Undecided != "":
			out = outcome{verdict: finding.Undecided, problem: "webhook " + m.Webhook + ": " + m.Undecided}
		case m.Denied:
			status := apierrors.NewForbidden(req.Resource.GroupResource(), req.Name, errors.New(m.Failure)).Status()
			out = denied(&status, req.Resource.Resource)
		}
	}
	return out
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
