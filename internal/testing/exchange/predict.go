package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// A Predictor predicts responses to the requests of a scene.
type Predictor struct {
	set     *policy.Set
	crds    map[schema.GroupKind]*custom
	seen    Seen
	mutates bool
	// Invalid holds the errors of documents.
	Invalid []*policy.CompileError
}

type custom struct {
	engine   *engine.Engine
	resource string
	crd      *apiextensionsv1.CustomResourceDefinition
}

// Seen returns the object of a request for a built-in kind as policies see it.
type Seen func(ctx context.Context, r *Request, kind schema.GroupVersionKind) (Object, error)

// A Prediction is a set of possible responses: which of several denials the server returns depends
// on the order in which it holds policies, bindings, and params, which is random.
type Prediction struct {
	Answer
	// Denials are the possible responses to a denied request.
	Denials []Answer
	// Undecided is the reason if the response cannot be predicted.
	Undecided string
}

// NewPredictor compiles the documents of a scene.
func NewPredictor(s *Scene, seen Seen) (*Predictor, error) {
	p := &Predictor{crds: map[schema.GroupKind]*custom{}, seen: seen, mutates: s.Mutates()}
	var err error
	p.set, err = policy.Compile(s.Documents, policy.Config{Complete: true})
	var invalid *policy.CompileErrors
	switch {
	case errors.As(err, &invalid):
		p.Invalid = invalid.Errors
	case err != nil:
		return nil, err
	}
	for _, doc := range s.Documents {
		if doc["kind"] != "CustomResourceDefinition" {
			continue
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		data, err := json.Marshal(doc)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, crd); err != nil {
			return nil, err
		}
		e, err := engine.Compile(crd, engine.Config{})
		if err != nil {
			return nil, err
		}
		p.crds[schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}] = &custom{e, crd.Spec.Names.Plural, crd}
	}
	return p, nil
}

// Predict predicts the response to a request.
func (p *Predictor) Predict(ctx context.Context, r *Request) (*Prediction, error) {
	gv, err := schema.ParseGroupVersion(r.APIVersion)
	if err != nil {
		return nil, err
	}
	kind := gv.WithKind(r.Kind)
	if r.KindVersion != "" {
		kind = schema.FromAPIVersionAndKind(r.KindVersion, r.Kind)
	}
	to := &policy.Request{
		Operation: r.Operation, Resource: gv.WithResource(r.Resource), Subresource: r.Subresource, Kind: kind,
		Name: r.Name, Namespace: r.Namespace, DryRun: r.DryRun, Options: r.Options,
		User:   policy.User{Name: r.User.Name, UID: r.User.UID, Groups: r.User.Groups, Extra: r.User.Extra},
		Object: r.Object, OldObject: r.Old,
	}
	out := &Prediction{Answer: Answer{Code: Accepted}}
	if c := p.crds[kind.GroupKind()]; c != nil && c.resource == r.Resource {
		if done, err := p.prepare(ctx, c, r, to, out); done || err != nil {
			return out, err
		}
	} else if r.Object != nil && (r.Subresource == "" || r.Subresource == "status") {
		if to.Object, err = p.seen(ctx, r, kind); err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.Kind, r.Name, err)
		}
	}
	if p.mutates && out.Object != nil {
		out.Object = WithoutServerFields(to.Object)
	}
	to.SetServerFields(time.Unix(0, 0))
	if err := p.admit(ctx, to, out); err != nil {
		return nil, err
	}
	return out, nil
}

// done is set if the response is complete.
func (p *Predictor) prepare(ctx context.Context, c *custom, r *Request, to *policy.Request, out *Prediction) (done bool, err error) {
	for _, version := range c.engine.Info().Served {
		if version != to.Kind.Version {
			e := policy.Equivalent{Resource: to.Resource, Kind: to.Kind}
			e.Resource.Version, e.Kind.Version = version, version
			m := policyrequest.MergeableOf(c.crd, version)
			e.Schema, e.Default = m.Schema, m.Default
			to.Equivalents = append(to.Equivalents, e)
		}
	}
	if r.Operation == policy.OperationDelete {
		return false, nil
	}
	req := engine.Request{Object: r.Object, OldObject: r.Old, Namespace: r.Namespace, Name: r.Name, Subresource: r.Subresource, Patched: r.Patched}
	if p.mutates {
		if done, err := p.mutate(ctx, c, to, &req, out); done || err != nil {
			return done, err
		}
	}
	res, err := c.engine.Validate(ctx, req)
	if err != nil {
		return false, err
	}
	out.Warnings = append(out.Warnings, res.Warnings...)
	if !res.Allowed {
		warnings := out.Warnings
		out.Answer = failure(res.Failure)
		out.Warnings = warnings
		return true, nil
	}
	to.Object = res.Object
	if p.mutates {
		out.Object = res.Object
	}
	return false, nil
}

func (p *Predictor) admit(ctx context.Context, to *policy.Request, out *Prediction) error {
	res, err := p.set.Evaluate(ctx, *to)
	if err != nil {
		return err
	}
	var reasons []string
	for _, u := range res.Undecided {
		reasons = append(reasons, u.String())
	}
	out.Undecided = strings.Join(reasons, "; ")
	for _, text := range res.Warnings {
		if !slices.Contains(out.Warnings, text) {
			out.Warnings = append(out.Warnings, text)
		}
	}
	out.Annotations = res.AuditAnnotations
	if res.Allowed {
		return nil
	}
	for i := range res.Evaluations {
		if one := firstDenial(&res.Evaluations[i], res.Failure); one != nil {
			one.Warnings, one.Annotations = out.Warnings, out.Annotations
			out.Denials = append(out.Denials, *one)
		}
	}
	denied := failure(res.Failure)
	denied.Warnings, denied.Annotations = out.Warnings, out.Annotations
	out.Answer = denied
	return nil
}

// firstDenial returns the response if the evaluation is the first that denies the request, or nil if it
// denies nothing. first is the status of another denial of the same request.
func firstDenial(e *policy.Evaluation, first *metav1.Status) *Answer {
	i := slices.IndexFunc(e.Decisions, func(d policy.Decision) bool { return slices.Contains(d.Actions, policy.ActionDeny) })
	if i < 0 {
		return nil
	}
	d := e.Decisions[i]
	text := fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", e.Policy, e.Binding, d.Message)
	if e.Binding == "" {
		text = fmt.Sprintf("ValidatingAdmissionPolicy '%s' denied request: %s", e.Policy, d.Message)
	}
	prefix, _, _ := strings.Cut(first.Message, ": ValidatingAdmissionPolicy '")
	a := Answer{Reason: d.Reason, Message: prefix + ": " + text, Causes: []string{"  " + text}}
	if a.Reason == "" {
		a.Reason = string(metav1.StatusReasonInvalid)
	}
	a.Code = CodeOf(a.Reason)
	return &a
}

// CodeOf returns the code of a denial with a reason that policies can have.
func CodeOf(reason string) int32 {
	return map[string]int32{"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413, "Invalid": 422}[reason]
}

func failure(s *metav1.Status) Answer {
	a := Answer{Code: s.Code, Reason: string(s.Reason), Message: s.Message}
	if s.Details != nil {
		for _, c := range s.Details.Causes {
			a.Causes = append(a.Causes, fmt.Sprintf("%s %s %s", c.Type, c.Field, c.Message))
		}
	}
	return a
}
