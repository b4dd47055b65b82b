package policyrequest

import (
	"context"
	"errors"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
)

// How it works: a server mutates an object, decides it by the CRD or by its own code, and then validates it. A Review forms
// the requests that policies see on the way, and holds their results. It does the same for all commands.

// A Review takes a write through admission. It is not safe for concurrent use.
type Review struct {
	// Set holds the policies, or is nil.
	Set         *policy.Set
	User        policy.User
	Operation   policy.Operation
	Subresource string
	// Name is used if the objects have none. Namespace is that of the request.
	Name, Namespace string
	// NamespaceObject is the Namespace, or nil for the Namespace among the documents of Set.
	NamespaceObject map[string]any
	// Now is the time of the request.
	Now time.Time

	// Received holds the warnings that the server sends before a mutation, if an object was mutated.
	Received []string
	// Mutations are the evaluations of mutating policies.
	Mutations []policy.MutationEvaluation
	// Webhooks are those that match.
	Webhooks []policy.WebhookMatch
	// Request is the request that validating policies see, and Evaluated is their result, which is nil before.
	Request   policy.Request
	Evaluated *policy.Result
	// Denied is the response if a policy or the condition of a webhook denies the write.
	Denied *metav1.Status
	// Undecided is the reason why the effect of policies is not known, or "". A denial is valid in any case.
	Undecided string
	// Work is the work of policies, in the units of policy.Result.Work.
	Work int64
}

// Form returns the request that validating policies see. object is nil for a deletion, and old for a create.
func (r *Review) Form(to *Subject, object, old map[string]any) policy.Request {
	req := r.request(to, object, old)
	req.SetServerFields(r.Now)
	return req
}

func (r *Review) request(to *Subject, object, old map[string]any) policy.Request {
	return policy.Request{
		Operation: r.Operation, Resource: to.Resource, Kind: to.Kind, Equivalents: to.Equivalents, User: r.User,
		Subresource: r.Subresource, Name: nameOf(object, old, r.Name), Namespace: r.Namespace, NamespaceObject: r.NamespaceObject,
		Object: object, OldObject: old,
	}
}

func nameOf(object, old map[string]any, fallback string) string {
	for _, o := range []map[string]any{object, old} {
		meta, _ := o["metadata"].(map[string]any)
		if name, _ := meta["name"].(string); name != "" {
			return name
		}
	}
	return fallback
}

// OperationOf returns the operation of a write.
func OperationOf(object, old map[string]any) policy.Operation {
	switch {
	case object == nil:
		return policy.OperationDelete
	case old != nil:
		return policy.OperationUpdate
	}
	return policy.OperationCreate
}

// Mutate evaluates the mutating policies. It returns the object as they change it, or nil if they do not, and whether the
// write goes on. If it does not, Denied or Undecided is set.
func (r *Review) Mutate(
	ctx context.Context, to *Subject, object, old map[string]any,
) (changed map[string]any, ok bool, err error) {
	if r.Set == nil || !r.Set.Mutates() || object == nil || r.Subresource == "scale" {
		return nil, true, nil
	}
	req := r.request(to, object, old)
	to.prepareMutation(&req)
	req.SetReceivedFields(r.Now)
	res, err := r.Set.Mutate(ctx, req)
	if err != nil {
		return nil, false, err
	}
	r.Mutations, r.Work = append(r.Mutations, res.Evaluations...), r.Work+res.Work
	switch {
	case !res.Allowed:
		r.Denied = res.Failure
	case len(res.Undecided) > 0:
		r.Undecided = reasons(res.Undecided)
	case res.Changed:
		return res.Object, true, nil
	}
	return nil, r.Denied == nil && r.Undecided == "", nil
}

// MutateCustom evaluates the mutating policies for the write of a custom resource, and changes req as they do.
func (r *Review) MutateCustom(ctx context.Context, to *Subject, e *engine.Engine, req *engine.Request) (ok bool, err error) {
	if r.Set == nil || !r.Set.Mutates() || r.Subresource == "scale" {
		return true, nil
	}
	received, err := e.Receive(ctx, *req)
	if err != nil {
		return true, nil // Validate rejects it for the same reason
	}
	changed, ok, err := r.Mutate(ctx, to, received.Object, received.OldObject)
	if changed != nil {
		req.Object, req.Raw, req.Merged = changed, nil, true
		req.Name = "" // the server compares it with that of the URL before the mutation
	}
	if changed != nil || !ok {
		r.Received = received.Warnings // the server decodes the object only before the mutation
	}
	return ok, err
}

// Validate evaluates the conditions of webhooks, and the validating policies. object is nil for a deletion, and old for a
// create. ok is false if Denied or Undecided is set.
func (r *Review) Validate(ctx context.Context, to *Subject, object, old map[string]any) (ok bool, err error) {
	if r.Set == nil {
		return true, nil
	}
	r.Request = r.Form(to, object, old)
	validating, err := r.matchWebhooks(ctx)
	if err != nil || r.Denied != nil || r.Undecided != "" {
		return false, err
	}
	if r.Evaluated, err = r.Set.Evaluate(ctx, r.Request); err != nil {
		return false, err
	}
	r.Work += r.Evaluated.Work
	switch {
	case !r.Evaluated.Allowed:
		r.Denied = r.Evaluated.Failure
	case len(r.Evaluated.Undecided) > 0:
		r.Undecided = reasons(r.Evaluated.Undecided)
	default:
		r.decideBy(validating)
	}
	return r.Denied == nil && r.Undecided == "", nil
}

// matchWebhooks evaluates the conditions of webhooks. Mutating webhooks can end the write. It returns the first validating
// webhook whose conditions do, or nil: the server calls these after the policies.
func (r *Review) matchWebhooks(ctx context.Context) (validating *policy.WebhookMatch, err error) {
	if r.Set.Webhooks() == 0 {
		return nil, nil
	}
	if r.Webhooks, err = r.Set.MatchWebhooks(ctx, r.Request); err != nil {
		return nil, err
	}
	for i := range r.Webhooks {
		switch m := &r.Webhooks[i]; {
		case m.Undecided == "" && !m.Denied:
		case m.Kind != "ValidatingWebhookConfiguration":
			r.decideBy(m)
			return nil, nil
		case validating == nil:
			validating = m
		}
	}
	return validating, nil
}

// decideBy records the effect of a webhook, which can be nil.
func (r *Review) decideBy(m *policy.WebhookMatch) {
	switch {
	case m == nil:
	case m.Undecided != "":
		r.Undecided = "webhook " + m.Webhook + ": " + m.Undecided
	default:
		status := apierrors.NewForbidden(r.Request.Resource.GroupResource(), r.Request.Name, errors.New(m.Failure)).Status()
		r.Denied = &status
	}
}

func reasons(undecided []policy.Undecided) string {
	texts := make([]string, len(undecided))
	for i, u := range undecided {
		texts[i] = u.String()
	}
	return strings.Join(texts, "; ")
}

// ofKind is a Review of a write of a built-in kind. It implements Admission.
type ofKind struct {
	*Review
	to  Subject
	err error
	// later is set if the policies do not validate the write yet.
	later bool
}

// WriteBuiltin decides a write of a built-in kind, in which the policies take part. If they end it, the result is not nil,
// but only its warnings are valid. If later is set, validating policies do not take part: use Validate with the objects of
// Request.
func (r *Review) WriteBuiltin(ctx context.Context, k *Builtin, w Write, later bool) (*engine.Result, error) {
	w.User, w.Subresource = r.User, r.Subresource
	a := &ofKind{Review: r, to: k.Subject(w.Object, w.OldObject), later: later}
	if r.Set != nil {
		w.Admission = a
	}
	res, err := k.Write(ctx, w)
	if a.err != nil {
		err = a.err
	}
	return res, err
}

// Mutate implements Admission.
func (a *ofKind) Mutate(ctx context.Context, object, old map[string]any) (changed map[string]any, ok bool) {
	changed, ok, a.err = a.Review.Mutate(ctx, &a.to, object, old)
	return changed, ok && a.err == nil
}

// Validate implements Admission.
func (a *ofKind) Validate(ctx context.Context, object, old map[string]any) (ok bool) {
	if a.later {
		a.Request = a.request(&a.to, object, old)
		return true
	}
	ok, a.err = a.Review.Validate(ctx, &a.to, object, old)
	return ok && a.err == nil
}
