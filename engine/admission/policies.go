package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
)

// SetPolicies replaces the admission policies of the set; nil removes them. Validate evaluates them for requests of
// any operation and kind that are neither rejected nor undecided without them.
func (s *Set) SetPolicies(p *policy.Set) { s.policies.Store(p) }

func (s *Set) admit(ctx context.Context, set *policy.Set, req *admissionv1.AdmissionRequest, d *Decision) (*Decision, error) {
	asked, err := policyRequest(req)
	if err != nil {
		return nil, err
	}
	asked.Equivalents = s.equivalents(ctx, asked)
	res, err := set.Evaluate(ctx, *asked)
	if err != nil {
		return nil, err
	}
	d.Policies = res
	if len(res.Evaluations) == 0 && len(res.Undecided) == 0 {
		return d, nil // no policy matches
	}
	out := d.Response
	if d.Verdict == NotChecked || d.Verdict == Untouched {
		d.Verdict, out.Warnings = Allowed, nil
	}
	if out.AuditAnnotations == nil {
		out.AuditAnnotations = map[string]string{}
	}
	for key, value := range res.AuditAnnotations {
		out.AuditAnnotations[strings.ReplaceAll(key, "/", ".")] = value // the API server adds the webhook's name and a slash
	}
	if s.config.Mode != Audit {
		out.Warnings = slices.Concat(out.Warnings, res.Warnings)
	}
	switch {
	case !res.Allowed:
		s.deny(d)
	case len(res.Undecided) > 0:
		why := shorten(res.Undecided[0].String())
		return s.undecided(d, why, why), nil
	}
	out.AuditAnnotations[AuditVerdict] = string(d.Verdict)
	return d, nil
}

func (s *Set) deny(d *Decision) {
	d.Verdict = Rejected
	denied := d.DeniedBy()
	annotate(d.Response.AuditAnnotations, AuditPolicies, len(denied), func(i int) string { return denied[i] })
	s.reject(d.Response, bounded(d.Policies.Failure), wouldRejectText+shorten(d.Policies.Failure.Message))
}

// DeniedBy returns the decisions of policies that denied the request: the policy, the binding, and the field of the
// validation, if a validation decided.
func (d *Decision) DeniedBy() (names []string) {
	if d.Policies == nil || d.Policies.Allowed {
		return nil
	}
	for _, e := range d.Policies.Evaluations {
		for _, one := range e.Decisions {
			if !slices.Contains(one.Actions, policy.ActionDeny) {
				continue
			}
			name := e.Policy + " " + e.Binding
			if one.Validation >= 0 {
				name += fmt.Sprintf(" spec.validations[%d]", one.Validation)
			}
			names = append(names, name)
		}
	}
	return names
}

func policyRequest(req *admissionv1.AdmissionRequest) (*policy.Request, error) {
	out := &policy.Request{
		Operation: policy.Operation(req.Operation), Subresource: req.SubResource, Kind: kindOf(req), Name: req.Name, Namespace: req.Namespace,
		Resource: schema.GroupVersionResource(req.Resource), User: userOf(&req.UserInfo), DryRun: req.DryRun != nil && *req.DryRun,
	}
	if out.Resource.Resource == "" || out.Resource.Version == "" {
		return nil, badRequest("no resource")
	}
	var err error
	if out.Object, err = optional("object", &req.Object); err != nil {
		return nil, err
	}
	if out.OldObject, err = optional("oldObject", &req.OldObject); err != nil {
		return nil, err
	}
	out.Options, err = optional("options", &req.Options)
	return out, err
}

// equivalents returns the other served versions of the request's kind, for policies with matchPolicy Equivalent.
func (s *Set) equivalents(ctx context.Context, req *policy.Request) (all []policy.Equivalent) {
	crd := s.lookup(req.Kind)
	if crd == nil {
		return nil
	}
	for _, version := range crd.engine.Info().Served {
		if version == req.Kind.Version {
			continue
		}
		e := policy.Equivalent{Resource: req.Resource, Kind: req.Kind}
		e.Resource.Version, e.Kind.Version = version, version
		if s.config.Engine.Converter != nil {
			e.Convert = func(object map[string]any) (map[string]any, error) {
				out, err := crd.engine.Convert(ctx, object, version)
				if bug := (*engine.InternalError)(nil); errors.As(err, &bug) {
					panic(&policy.InternalError{Reason: bug.Reason, Stack: bug.Stack}) // otherwise, the set would deny the request
				}
				return out, err
			}
		}
		all = append(all, e)
	}
	return all
}

func optional(name string, raw *runtime.RawExtension) (map[string]any, error) {
	if len(raw.Raw) == 0 && raw.Object == nil {
		return nil, nil
	}
	return decode(name, raw)
}

func userOf(info *authenticationv1.UserInfo) policy.User {
	u := policy.User{Name: info.Username, UID: info.UID, Groups: info.Groups}
	for key, values := range info.Extra {
		if u.Extra == nil {
			u.Extra = map[string][]string{}
		}
		u.Extra[key] = values
	}
	return u
}
