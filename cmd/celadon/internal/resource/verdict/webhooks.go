package verdict

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// recordWebhooks records the webhooks that match a request, and counts those that a server would call.
func (d *decision) recordWebhooks(matches []policy.WebhookMatch) {
	for _, m := range matches {
		w := finding.Webhook{
			Kind: m.Kind, Configuration: m.Configuration, Webhook: m.Webhook, Called: m.Called, Condition: m.Condition,
			Error: m.Failure, Undecided: m.Undecided,
		}
		if d.Locate {
			failing := ""
			if m.Failure != "" {
				failing = m.Condition
			}
			w.File, w.Line = d.Admission.Policies.Webhook(m.Kind, m.Configuration, m.Webhook, failing)
		}
		d.report.Webhooks = append(d.report.Webhooks, w)
		if m.Called {
			count, _ := d.calls.LoadOrStore(m.Webhook, new(atomic.Int64))
			count.(*atomic.Int64).Add(1)
		}
	}
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
