package policyrequest

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/x/builtin"
)

// How it works: a server mutates an object, validates it, and then runs validating policies. A Review forms the
// requests that policies see on the way, and holds their results.

// A Review takes a write through admission. It is not safe for concurrent use.
type Review struct {
	// Set holds the policies, or is nil.
	Set         *policy.Set
	User        policy.User
	Operation   policy.Operation
	Subresource string
	// Name and Namespace are from the request. If Name is "", the name of the object is used.
	Name, Namespace string
	// Collection is set for the deletion of a collection, whose requests have no name.
	Collection bool
	// NamespaceObject is the Namespace, or nil for the Namespace among the documents of Set.
	NamespaceObject map[string]any
	// Now is the time of the request.
	Now time.Time
	// Builtins, if not nil, provides the kind Scale, for requests to scale a custom resource.
	Builtins *Builtins
	// Mutated is set once the conditions of the mutating webhooks are evaluated. If another Review
	// has done so, set it before Validate.
	Mutated bool

	// Between is policy.Request.Between, or nil.
	Between Between

	// Received holds the warnings that the server sends before the mutation, if a policy changes
	// the object or ends the write.
	Received []string
	// Mutations are the evaluations of mutating policies.
	Mutations []policy.MutationEvaluation
	// Webhooks are the webhooks in order: the mutating webhooks and, if the write goes on, the
	// validating webhooks.
	Webhooks []policy.WebhookMatch
	// Request is the request that validating policies see, and Evaluated is their result, or nil if they did not run.
	Request   policy.Request
	Evaluated *policy.Result
	// Denied is the response if a policy or the condition of a webhook denies the write.
	Denied *metav1.Status
	// Undecided is the reason why the effect of policies is not known, or "". A denial is valid
	// even if it is set.
	Undecided string
	// Work is the work of policies, in the units of policy.Result.Work.
	Work int64
}

// Form returns the request that validating policies see. object is nil for a deletion, and old for a create.
func (r *Review) Form(to *Subject, object, old map[string]any) policy.Request {
	if r.Subresource == ScaleName && to.scale != nil {
		object, old = to.scale(object), to.scale(old)
	}
	req := r.request(r.target(to), object, old)
	req.SetServerFields(r.Now)
	return req
}

func (r *Review) request(to *Subject, object, old map[string]any) policy.Request {
	req := policy.Request{
		Operation: r.Operation, Resource: to.Resource, Kind: to.Kind, Equivalents: to.Equivalents, User: r.User,
		Subresource: r.Subresource, Name: cmp.Or(r.Name, nameOf(object), nameOf(old)), Namespace: r.Namespace, NamespaceObject: r.NamespaceObject,
		Object: object, OldObject: old,
	}
	if r.Collection {
		req.Name = ""
	}
	return req
}

func nameOf(object map[string]any) string {
	meta, _ := object["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	return name
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

// Mutate evaluates the mutating policies, and then the conditions of mutating webhooks. It returns
// the object as the policies change it, or nil if they do not change it, and whether the write goes
// on. If it does not, Denied or Undecided is set, or Between ended it.
func (r *Review) Mutate(
	ctx context.Context, to *Subject, object, old map[string]any,
) (changed map[string]any, ok bool, err error) {
	if r.Set == nil || object == nil {
		return nil, true, nil
	}
	if spec, _ := object["spec"].(map[string]any); r.Subresource == "token" && spec["audiences"] == nil {
		r.Undecided = "a server sets the audiences of a TokenRequest that has none: set spec.audiences"
		return nil, false, nil
	}
	if !r.mutates() {
		return nil, true, nil
	}
	to = r.target(to)
	req := r.request(to, object, old)
	req.SetReceivedFields(r.Now)
	if req.Between = r.Between; r.Set.Mutates() {
		to.prepareMutation(&req)
		res, err := r.Set.Mutate(ctx, req)
		if err != nil {
			return nil, false, err
		}
		r.Mutations, r.Work = append(r.Mutations, res.Evaluations...), r.Work+res.Work
		switch {
		case !res.Allowed:
			if r.Denied = res.Failure; r.Denied == nil {
				return nil, false, nil // Between ended it
			}
		case len(res.Undecided) > 0:
			r.Undecided = reasons(res.Undecided)
		case res.Changed:
			changed, req.Object = res.Object, res.Object
		}
		if r.Denied != nil || r.Undecided != "" {
			return nil, false, nil
		}
	}
	ok, err = r.matchWebhooks(ctx, &req, policy.MutatingWebhooks)
	return changed, ok, err
}

func (r *Review) mutates() bool { return r.Set != nil && (r.Set.Mutates() || r.Set.Webhooks() > 0) }

// MutateCustom calls Mutate for a write of a custom resource, and changes req as the policies do.
func (r *Review) MutateCustom(ctx context.Context, to *Subject, e *engine.Engine, req *engine.Request) (ok bool, err error) {
	switch {
	case !r.mutates():
		return true, nil
	case r.Subresource == ScaleName:
		return r.mutateScale(ctx, to, e, req)
	}
	received, err := e.Receive(ctx, *req)
	if err != nil {
		return true, nil // Validate rejects it for the same reason
	}
	changed, ok, err := r.Mutate(ctx, to, received.Object, received.OldObject)
	if changed != nil {
		req.Object, req.Raw, req.Merged = changed, nil, true
		req.Name = "" // the server compares it with the URL before the mutation
	}
	if changed != nil || !ok {
		r.Received = received.Warnings // the server decodes the object only before the mutation
	}
	return ok, err
}

// Validate evaluates the validating policies, and then the conditions of validating webhooks.
// Unless Mutated is set, it first evaluates the conditions of mutating webhooks. object is nil for
// a deletion, and old for a create. ok is false if Denied or Undecided is set.
func (r *Review) Validate(ctx context.Context, to *Subject, object, old map[string]any) (ok bool, err error) {
	if r.Set == nil {
		return true, nil
	}
	r.Request = r.Form(to, object, old)
	if !r.Mutated {
		if ok, err = r.matchWebhooks(ctx, &r.Request, policy.MutatingWebhooks); err != nil || !ok {
			return false, err
		}
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
		return r.matchWebhooks(ctx, &r.Request, policy.ValidatingWebhooks)
	}
	return false, nil
}

func (r *Review) matchWebhooks(ctx context.Context, req *policy.Request, kind string) (ok bool, err error) {
	if r.Mutated = true; r.Set.Webhooks() == 0 {
		return true, nil
	}
	matches, err := r.Set.MatchWebhooks(ctx, *req, kind)
	if err != nil {
		return false, err
	}
	r.Webhooks = append(r.Webhooks, matches...)
	if len(matches) > 0 {
		switch m := matches[len(matches)-1]; {
		case m.Undecided != "":
			r.Undecided = "webhook " + m.Webhook + ": " + m.Undecided
		case m.Denied:
			status := apierrors.NewForbidden(req.Resource.GroupResource(), req.Name, errors.New(m.Failure)).Status()
			r.Denied = &status
		}
	}
	return r.Denied == nil && r.Undecided == "", nil
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
	// validated is set after Validate, and goes is its result. The server's code validates the
	// deletion of a Pod twice.
	validated, goes bool
}

// WriteBuiltin returns the verdict on a write of a built-in kind, in which the policies take part.
// If they end it, only the warnings of the result are valid. If later is set, validating policies
// do not take part: use Validate with the objects of Request.
func (r *Review) WriteBuiltin(ctx context.Context, k *Builtin, w Write, later bool) (*engine.Result, error) {
	w.User, w.Subresource, r.Builtins = r.User, r.Subresource, k.all
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
func (a *ofKind) Mutate(ctx context.Context, object, old map[string]any, between Between) (changed map[string]any, ok bool) {
	a.Between = between
	changed, ok, a.err = a.Review.Mutate(ctx, &a.to, object, old)
	return changed, ok && a.err == nil
}

// Validate implements Admission.
func (a *ofKind) Validate(ctx context.Context, object, old map[string]any) (ok bool) {
	switch {
	case a.validated:
		return a.goes
	case a.later:
		a.Request, ok = a.request(&a.to, object, old), true
	default:
		ok, a.err = a.Review.Validate(ctx, &a.to, object, old)
	}
	a.validated, a.goes = true, ok && a.err == nil
	return a.goes
}

// A Subresource is a subresource of a built-in kind whose requests contain objects of a different
// kind, such as exec. Only policies validate them.
type Subresource struct {
	Of   builtin.Kind
	Name string

	kind schema.GroupVersionKind
	all  *Builtins
}

// Subresource returns the subresource whose requests contain objects of a kind, or nil.
func (b *Builtins) Subresource(kind schema.GroupVersionKind) *Subresource {
	catalog, err := builtin.Newest()
	if err != nil {
		return nil
	}
	of, name, ok := catalog.Subresource(kind)
	if !ok {
		return nil
	}
	return &Subresource{of, name, kind, b}
}

// connects reports whether requests have no body, so that the server makes the object from the URL.
func (s *Subresource) connects() bool { return strings.HasSuffix(s.kind.Kind, "Options") }

// Operation returns the operation of requests.
func (s *Subresource) Operation() policy.Operation {
	if s.connects() {
		return policy.OperationConnect
	}
	return policy.OperationCreate
}

// Subject returns the subject of requests.
func (s *Subresource) Subject() Subject {
	return Subject{Resource: s.Of.GroupVersion().WithResource(s.Of.Resource), Kind: s.kind, mergeable: s.all.mergeable}
}

// WriteSubresource takes a request with a document as its object through admission. to is
// s.Subject(). The result is in the Review.
func (r *Review) WriteSubresource(ctx context.Context, s *Subresource, to *Subject, document map[string]any) error {
	object := s.Object(document)
	changed, ok, err := r.Mutate(ctx, to, object, nil)
	if changed != nil {
		object = changed
	}
	if ok && err == nil {
		_, err = r.Validate(ctx, to, object, nil)
	}
	return err
}

// Object returns a document as policies see it. The object of a connection, such as PodExecOptions, has no metadata.
func (s *Subresource) Object(document map[string]any) map[string]any {
	object := maps.Clone(document)
	if s.connects() {
		delete(object, "metadata")
	}
	if s.all.Server != nil {
		s.all.Server.SetDefaults(s.kind, object)
	}
	return object
}
