package verdict

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/secret"
)

// Operations of requests.
const (
	Create = "create"
	Update = "update"
	Delete = "delete"
	// DeleteCollection deletes an object by a request without a name.
	DeleteCollection = "deletecollection"
	Connect          = "connect"
)

// Operations lists all operations of requests.
var Operations = []string{Create, Update, Delete, DeleteCollection, Connect}

// Admission holds the policies of a run, and the user and the operation of its requests.
type Admission struct {
	Policies *policies.Policies
	User     policy.User
	// Operation is one of Operations. If it is "", it depends on the object: those of subresources such as exec have one
	// operation, those with an old version are updates, and the others are creates.
	Operation string
}

// operation returns Delete for DeleteCollection, and "" if the operation depends on the object.
func (a *Admission) operation() string {
	switch {
	case a == nil:
		return ""
	case a.Operation == DeleteCollection:
		return Delete
	}
	return a.Operation
}

// With --operation update, an object without an old version is its own old version. old also sets d.before, and in
// the report, the file of a moved object.
func (d *decision) old() map[string]any {
	operation := d.Admission.operation()
	if operation == Create {
		return nil
	}
	if d.before = d.Olds.find(d.CRDs, d.doc.File, d.report.Identity); d.before != nil {
		if file := d.before.file; file != d.doc.File {
			d.report.OldFile = file
		}
		return d.before.value()
	}
	if operation == Update {
		return d.doc.Object
	}
	return nil
}

// Without an old version, the document is the stored object.
func (d *decision) delete(ctx context.Context) outcome {
	d.report.Operation = Delete
	stored := d.doc.Object
	if old := d.Olds.find(d.CRDs, d.doc.File, d.report.Identity); old != nil {
		stored = old.value()
	}
	old, err := d.def.engine.Convert(ctx, stored, d.report.Version())
	if err != nil { // not an internal error
		out := failed(err)
		out.bug = nil
		return out
	}
	if out := d.admit(ctx, d.review(), nil, old); out.verdict != "" {
		return out
	}
	return outcome{verdict: finding.Valid}
}

func (d *decision) admitWrite(ctx context.Context, r *policyrequest.Review, req engine.Request, object map[string]any) outcome {
	if d.Admission == nil {
		return outcome{}
	}
	old := req.OldObject
	if old != nil {
		var err error
		if old, err = d.def.engine.Convert(ctx, old, d.report.Version()); err != nil {
			return outcome{verdict: finding.Undecided, problem: "policies are not evaluated: the old object: " + err.Error()}
		}
	}
	return d.admit(ctx, r, object, old)
}

func (d *decision) review() *policyrequest.Review {
	r := &policyrequest.Review{
		Operation: policy.Operation(strings.ToUpper(d.report.Operation)), Subresource: d.report.Subresource,
		Name: nameOf(d.doc.Object), Namespace: d.report.Namespace, Now: d.now(), Builtins: &d.builtins,
	}
	if d.Admission != nil {
		r.Set, r.User = d.Admission.Policies.Set, d.Admission.User
		r.Collection = d.Admission.Operation == DeleteCollection
	}
	return r
}

func (d *decision) mutate(ctx context.Context, r *policyrequest.Review, req engine.Request) (engine.Request, outcome) {
	if d.Admission == nil {
		return req, outcome{}
	}
	to := d.def.custom.Subject(ctx, d.report.APIVersion, d.doc.Object, req.OldObject)
	_, err := r.MutateCustom(ctx, &to, d.def.engine, &req)
	return req, d.reviewed(ctx, r, &to, err)
}

// object is nil for a deletion, and old for a create.
func (d *decision) admit(ctx context.Context, r *policyrequest.Review, object, old map[string]any) outcome {
	to := d.def.custom.Subject(ctx, d.report.APIVersion, d.doc.Object, old)
	_, err := r.Validate(ctx, &to, object, old)
	return d.reviewed(ctx, r, &to, err)
}

// reviewed moves the results of a review into the report. If the outcome has no verdict, the write goes on.
func (d *decision) reviewed(ctx context.Context, r *policyrequest.Review, to *policyrequest.Subject, err error) outcome {
	if err != nil {
		return failed(err)
	}
	d.report.Warnings = append(d.report.Warnings, r.Received...)
	var bug error
	for i := range r.Mutations {
		e := &r.Mutations[i]
		describer := policyrequest.Describer{Set: r.Set, Validation: d.Admission.Policies.Mutation, Explain: d.Explain && i < policyrequest.MaxExplained}
		why, err := describer.Mutation(ctx, e, to.Secrets)
		bug = cmp.Or(bug, err)
		d.report.Mutations = append(d.report.Mutations, finding.NewPolicyMutation(e, d.located(why)))
	}
	bug = cmp.Or(bug, d.recordWebhooks(ctx, r, to.Secrets))
	r.Received, r.Mutations, r.Webhooks = nil, nil, nil
	if res := r.Evaluated; res != nil {
		d.report.Warnings = append(d.report.Warnings, res.Warnings...)
		d.report.AuditAnnotations = res.AuditAnnotations
		describer := policyrequest.Describer{Set: r.Set, Validation: d.Admission.Policies.Validation, Explain: d.Explain}
		list, err := describer.Decisions(ctx, r.Request, res, to.Secrets)
		bug = cmp.Or(bug, err, d.observePolicies(ctx, r, to.Secrets))
		for i := range list {
			list[i].Explanation = d.located(list[i].Explanation)
		}
		d.report.Policies = list
	}
	out := outcome{bug: bug}
	switch {
	case r.Denied != nil:
		if r.Evaluated != nil {
			for _, u := range r.Evaluated.Undecided[:min(len(r.Evaluated.Undecided), excerpt.Shown)] {
				d.report.UndecidedPolicies = append(d.report.UndecidedPolicies, u.String())
			}
		}
		out = denied(r.Denied, to.Resource.Resource)
		out.bug = bug
	case r.Undecided != "":
		out.verdict, out.problem = finding.Undecided, r.Undecided
	case bug != nil:
		out.verdict = finding.Valid
	}
	return out
}

func (d *decision) observePolicies(ctx context.Context, r *policyrequest.Review, secrets secret.Texts) error {
	for i := range r.Evaluated.Evaluations {
		if d.ObservePolicy == nil {
			break
		}
		e := &r.Evaluated.Evaluations[i]
		values, err := r.Set.Values(ctx, r.Request, e)
		if err != nil {
			return err
		}
		for j := range values {
			v := &values[j]
			v.Value, v.Problem = secrets.HidePieces(v.Value), fmt.Sprint(secrets.HidePieces(v.Problem))
		}
		d.ObservePolicy(*e, values)
	}
	return nil
}

func (d *decision) located(x policyrequest.Explanation) policyrequest.Explanation {
	if !d.Locate {
		x.File, x.Line, x.Column = "", 0, 0
	}
	return x
}

func denied(status *metav1.Status, resource string) outcome {
	out := outcome{verdict: finding.Invalid, denied: resource, status: statusOf(status)}
	if status.Details != nil {
		for _, c := range status.Details.Causes {
			out.causes = append(out.causes, finding.Cause{Reason: string(c.Type), Field: c.Field, Message: c.Message})
		}
	}
	return out
}

// nameOf returns metadata.name. The name in a report can also be a generateName.
func nameOf(object map[string]any) string {
	name, _ := input.Metadata(object)["name"].(string)
	return name
}

func (d *decision) recordWebhooks(ctx context.Context, r *policyrequest.Review, secrets secret.Texts) (bug error) {
	for i := range r.Webhooks {
		m := &r.Webhooks[i]
		if d.webhooks.add(m); m.Unmatched == "rules" {
			continue
		}
		at := func(string, int, string) policyrequest.Validation {
			return d.Admission.Policies.Webhook(m.Kind, m.Configuration, m.Webhook, m.Condition)
		}
		describer := policyrequest.Describer{Set: r.Set, Validation: at, Explain: d.Explain && i < policyrequest.MaxExplained}
		why, err := describer.Webhook(ctx, m, secrets)
		bug = cmp.Or(bug, err)
		d.report.Webhooks = append(d.report.Webhooks, finding.Webhook{
			Kind: m.Kind, Configuration: m.Configuration, Webhook: m.Webhook, Called: m.Called, Unmatched: m.Unmatched, Condition: m.Condition,
			Error: m.Failure, Undecided: m.Undecided, Explanation: d.located(why),
		})
	}
	return bug
}

// webhookCalls counts the calls of webhooks in a run, and the reasons against a call. It is safe for concurrent use.
type webhookCalls struct {
	mu    sync.Mutex
	hooks map[webhookName]*webhookCount
}

type webhookName struct{ kind, configuration, webhook string }

type webhookCount struct {
	called  int
	unknown bool // for a request
	reasons map[string]int
}

func (c *webhookCalls) add(m *policy.WebhookMatch) {
	reason := ""
	switch {
	case m.Unmatched == "rules" || m.Called:
	case m.Unmatched != "":
		reason = m.Unmatched + " excludes"
	case m.Failure != "":
		reason = "matchCondition " + m.Condition + " fails for"
	case m.Condition != "":
		reason = "matchCondition " + m.Condition + " is false for"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hooks == nil {
		c.hooks = map[webhookName]*webhookCount{}
	}
	name := webhookName{m.Kind, m.Configuration, m.Webhook}
	of := c.hooks[name]
	if of == nil {
		of = &webhookCount{reasons: map[string]int{}}
		c.hooks[name] = of
	}
	if m.Called {
		of.called++
	}
	of.unknown = of.unknown || reason == "" && !m.Called && m.Unmatched == ""
	if reason != "" {
		of.reasons[reason]++
	}
}

func (c *webhookCalls) notes() (notes []error) {
	var called, others []string
	for name, of := range c.hooks {
		if of.called > 0 {
			called = append(called, fmt.Sprintf("%s (for %s)", name.webhook, phrase.Count(of.called, "request")))
		}
		if of.called > 0 || of.unknown {
			continue
		}
		why := []string{"its rules match no request that reaches it"}
		if len(of.reasons) > 0 {
			why = nil
		}
		for _, reason := range slices.Sorted(maps.Keys(of.reasons)) {
			why = append(why, reason+" "+phrase.Count(of.reasons[reason], "request"))
		}
		others = append(others, fmt.Sprintf("%s (%s)", name.webhook, strings.Join(why, ", ")))
	}
	slices.Sort(called)
	slices.Sort(others)
	if len(called) > 0 {
		notes = append(notes, errors.New("webhooks that a server would call, and that were not called: "+resource.Some(called, maxNoted)))
	}
	if len(others) > 0 {
		notes = append(notes, errors.New("webhooks that a server would not call: "+resource.Some(others, maxNoted)))
	}
	return notes
}
