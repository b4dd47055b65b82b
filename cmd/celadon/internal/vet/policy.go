package vet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/reports"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/policyvet"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// A vettedPolicy is a policy, a binding, a webhook configuration, or another document with expressions that
// Builtins vets, with its report.
type vettedPolicy struct {
	vetted
	policy *policyvet.Report
	of     reflect.Type // of the document in Go, or nil
}

// typeOf returns the Go type of the documents of a kind, or nil.
func (p *policyVetter) typeOf(doc *input.Document) reflect.Type {
	id := doc.Identity()
	kinds := runtime.NewScheme()
	if err := admissionregistrationv1.AddToScheme(kinds); err == nil {
		if of := kinds.AllKnownTypes()[admissionregistrationv1.SchemeGroupVersion.WithKind(id.Kind)]; of != nil {
			return of
		}
	}
	if p.vetter.builtins == nil {
		return nil
	}
	resource, _ := p.vetter.builtins.Resource(schema.FromAPIVersionAndKind(id.APIVersion, id.Kind))
	return resource.Type
}

// A policyVetter keeps documents until all CRDs have been vetted, because the types of policies depend
// on CRDs.
type policyVetter struct {
	vetter    *vetter
	options   *Options
	documents []*input.Document
	builtins  []*input.Document // which Builtins vets
	crds      [][]byte
}

// foundAll is like found, but also returns policies, documents that Builtins vets, and documents of other kinds.
func (v *vetter) foundAll(ctx context.Context, paths []string, filter *resource.Filter) func(*input.Document) *vetted {
	return func(doc *input.Document) *vetted {
		switch {
		case filter.Ignores(doc):
			return nil
		case v.isOfBuiltins(doc):
			return &vetted{doc: doc, isPolicy: true}
		case doc.Err == nil && policyvet.IsVetted(doc.Object):
			if doc.Object["spec"] == nil && doc.Object["webhooks"] == nil && !slices.Contains(paths, doc.File) {
				return nil // a patch
			}
			return &vetted{doc: doc, isPolicy: true}
		}
		one := v.vet(ctx, doc)
		if one == nil {
			return &vetted{doc: doc, other: v.unvetted(doc)}
		} else if one.report != nil {
			one.compact, _ = json.Marshal(resource.WithoutDescriptions(doc.Object)) // decoded JSON
		}
		return one
	}
}

func (v *vetter) kindHint(doc *input.Document) string {
	id := doc.Identity()
	if group := id.GroupKind().Group; v.builtins == nil || group != admissionregistrationv1.GroupName && group != "resource.k8s.io" {
		return ""
	}
	version, _ := types.ParseVersion(v.cfg.KubeVersion)
	if a := v.builtins.Absent(schema.FromAPIVersionAndKind(id.APIVersion, id.Kind), version.Minor); a != nil {
		return a.Hint
	}
	return ""
}

func (p *policyVetter) keep(one *vetted) {
	switch {
	case one.isPolicy && p.vetter.isOfBuiltins(one.doc):
		p.builtins = append(p.builtins, one.doc)
	case one.isPolicy:
		p.documents = append(p.documents, one.doc)
	case one.compact != nil:
		p.crds = append(p.crds, one.compact)
	}
}

// run adds an internal error to the summary instead of returning it.
func (p *policyVetter) run(ctx context.Context, sum *summary, out *reports.Printers[printer]) error {
	if len(p.documents)+len(p.builtins) == 0 {
		return nil
	}
	sum.Policies = &policySummary{}
	all, err := p.vetBuiltins(ctx, sum)
	if err != nil || sum.bug != nil {
		return err
	}
	objects := make([]map[string]any, len(p.documents))
	for i, doc := range p.documents {
		objects[i] = doc.Object
	}
	cfg := policyvet.Config{KubeVersion: p.vetter.cfg.KubeVersion, KubeVersions: p.vetter.cfg.KubeVersions, Without: p.options.NoLints}
	if p.vetter.builtins != nil {
		cfg.Server = p.vetter.builtins
	}
	if cfg.Schemas, err = policyvet.NewSchemas(cfg.KubeVersion, p.needed(objects)); err != nil {
		return err
	}
	list, err := policyvet.Vet(ctx, objects, cfg)
	var bug *policy.InternalError
	if errors.As(err, &bug) {
		sum.bug = bug
		return nil
	}
	if err != nil {
		return err
	}
	for _, r := range list {
		one := &vettedPolicy{vetted: vetted{doc: p.documents[r.Document], decisive: p.vetter.cfg.AdviseAll}, policy: r}
		if doc := one.doc; doc.Duplicate != nil {
			r.Accepted, r.Errors = false, append(r.Errors, policyvet.Error{Message: doc.Duplicate.Error()})
		}
		all = append(all, one)
	}
	for _, one := range all {
		if !one.policy.Accepted {
			one.of = p.typeOf(one.doc)
		}
		sum.Policies.count(one)
		if err := out.Each(func(p printer) error { return p.policy(one) }); err != nil {
			return err
		}
	}
	return nil
}

func (p *policyVetter) needed(objects []map[string]any) (crds []*apiextensionsv1.CustomResourceDefinition) {
	needs := policyvet.Needs(objects)
	for _, data := range p.crds {
		var head struct {
			Spec struct{ Names struct{ Plural, Kind string } }
		}
		if json.Unmarshal(data, &head) != nil || !needs(head.Spec.Names.Plural, head.Spec.Names.Kind) {
			continue
		}
		if crd, err := catalog.Decode(data); err == nil {
			crds = append(crds, crd)
		}
	}
	return crds
}

func (one *vettedPolicy) accepted() bool {
	return one.policy.Accepted && !(one.decisive && slices.ContainsFunc(one.policy.KubeVersions, func(v policyvet.KubeVersion) bool { return !v.Accepted }))
}

// errors returns the reasons for a rejection by the version of the verdict, or else by the first version that rejects
// the document.
func (one *vettedPolicy) errors() []policyvet.Error {
	if one.policy.Accepted && !one.accepted() {
		for _, v := range one.policy.KubeVersions {
			if !v.Accepted {
				return v.Errors
			}
		}
	}
	return one.policy.Errors
}

func (one *vettedPolicy) rejecting() (versions []string) {
	for _, v := range one.policy.KubeVersions {
		if one.policy.Accepted && !v.Accepted {
			versions = append(versions, v.Version)
		}
	}
	return versions
}

const maxHarmlessHints = 3

// harmless returns the number of warnings about expressions that do not fail, and the first of their hints, which
// name the kinds that have a field.
func (one *vettedPolicy) harmless() (n int, hints []string) {
	for _, w := range one.policy.Warnings {
		if !w.Harmless {
			continue
		}
		if n++; w.Hint != "" && len(hints) < maxHarmlessHints && !slices.Contains(hints, w.Hint) {
			hints = append(hints, w.Hint)
		}
	}
	return n, hints
}

type policySummary struct {
	Policies       int `json:"policies"`
	Bindings       int `json:"bindings"`
	Webhooks       int `json:"webhooks"`
	Configurations int `json:"configurations,omitempty"`
	Devices        int `json:"devices,omitempty"`
	Accepted       int `json:"accepted"`
	Rejected       int `json:"refused"`
	Undecided      int `json:"undecided,omitempty"`
	Warnings       int `json:"warnings"`
	Lints          int `json:"lints"`
}

func (s *policySummary) count(one *vettedPolicy) {
	switch one.policy.Kind {
	case "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy":
		s.Policies++
	case "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicyBinding":
		s.Bindings++
	case "AuthenticationConfiguration", "AuthorizationConfiguration":
		s.Configurations++
	case "DeviceClass", "ResourceClaim", "ResourceClaimTemplate":
		s.Devices++
	default:
		s.Webhooks++
	}
	if one.accepted() {
		s.Accepted++
	} else {
		s.Rejected++
	}
	harmless, _ := one.harmless()
	s.Warnings += len(one.policy.Warnings) - harmless
	s.Lints += len(one.policy.Lints)
}

// String returns the counts on one line.
func (s *policySummary) String() string {
	var kinds, b strings.Builder
	print.Also(&kinds, s.Policies, "policy", "policies")
	print.Also(&kinds, s.Bindings, "binding", "bindings")
	print.Also(&kinds, s.Webhooks, "webhook configuration", "webhook configurations")
	print.Also(&kinds, s.Configurations, "configuration of the API server", "configurations of the API server")
	print.Also(&kinds, s.Devices, "class or claim of devices", "classes or claims of devices")
	list := strings.ReplaceAll(strings.TrimPrefix(kinds.String(), "; "), "; ", ", ")
	fmt.Fprintf(&b, "%s vetted: %d accepted, %d rejected", list, s.Accepted, s.Rejected)
	print.Also(&b, s.Undecided, "undecided")
	print.Also(&b, s.Warnings, "type warning", "type warnings")
	print.Also(&b, s.Lints, "lint", "lints")
	return b.String()
}

// Builtins vets objects of built-in kinds and the files of kube-apiserver, as package builtins does. The playground has
// none.
type Builtins interface {
	policyrequest.Server
	// HasExpressions reports whether an object is of a kind with expressions that VetExpressions vets.
	HasExpressions(object map[string]any) bool
	// VetExpressions validates an object as a server of Kubernetes 1.minor does when the object is created, or when
	// the server reads the file.
	VetExpressions(ctx context.Context, object map[string]any, duplicateKeys error, minor int) (*policyvet.Compiled, error)
}

func (v *vetter) isOfBuiltins(doc *input.Document) bool {
	return v.builtins != nil && doc.Err == nil && v.builtins.HasExpressions(doc.Object)
}

func (p *policyVetter) vetBuiltins(ctx context.Context, sum *summary) (all []*vettedPolicy, err error) {
	for _, doc := range p.builtins {
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		r, err := p.vetBuiltin(ctx, doc)
		var limit *engine.WorkLimitError
		switch {
		case errors.As(err, &limit):
			sum.Policies.Devices++
			sum.Policies.Undecided++
			p.vetter.complain(fmt.Errorf("%s: not vetted: %s", doc.Location(), limit.Reason))
		case err != nil:
			sum.bug = err
			return nil, nil
		default:
			all = append(all, &vettedPolicy{vetted: vetted{doc: doc}, policy: r})
		}
	}
	return all, nil
}

func (p *policyVetter) vetBuiltin(ctx context.Context, doc *input.Document) (*policyvet.Report, error) {
	version, err := types.ParseVersion(p.vetter.cfg.KubeVersion)
	if err != nil {
		return nil, err
	}
	c, err := p.vetter.builtins.VetExpressions(ctx, doc.Object, doc.Duplicate, version.Minor)
	if err != nil {
		return nil, err
	}
	c.Name = cmp.Or(doc.Identity().Name, doc.File)
	r := c.Report(version.String())
	if doc.Duplicate != nil && r.Accepted {
		r.Accepted, r.Errors = false, []policyvet.Error{{Message: doc.Duplicate.Error()}}
	}
	return r, nil
}
