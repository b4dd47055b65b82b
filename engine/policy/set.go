package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	apivalidation "k8s.io/apimachinery/pkg/util/validation"

	"github.com/celadon-cel/celadon/internal/text/spell"
)

// A Set is a set of compiled policies with everything that they refer to. It is immutable and safe
// for concurrent use.
type Set struct {
	settings   settings
	policies   []*compiledPolicy // ValidatingAdmissionPolicies, sorted by name
	mutating   []*compiledPolicy // MutatingAdmissionPolicies, sorted by name
	webhooks   []*compiledWebhook
	namespaces map[string]map[string]any
	params     map[paramKind][]paramsObject // sorted by namespace and name
	scopes     map[schema.GroupKind]bool    // whether a kind is namespaced

	evaluations *sync.Pool // of *evaluation
}

type compiledPolicy struct {
	kind, name  string
	program     *program
	constraints *constraints
	ignore      bool // failurePolicy: Ignore
	paramKind   *paramKind
	bindings    []*compiledBinding // sorted by name
	rejected    bool               // a binding is invalid
	runs        *sync.Pool         // of *run
	body        body
	explained   func() (*program, error) // not trimmed
}

type compiledBinding struct {
	name        string
	constraints *constraints // nil matches everything
	paramRef    *compiledRef
	actions     []Action
}

// An Info describes a policy of a Set.
type Info struct {
	Name string
	// Kind is ValidatingAdmissionPolicy or MutatingAdmissionPolicy.
	Kind string
	// Bindings holds the valid bindings. Without any, the policy has no effect. Rejected is set if a binding is invalid.
	Bindings []string
	Rejected bool
}

// Policies describes the policies of the set, sorted by name and kind.
func (s *Set) Policies() []Info {
	list := make([]Info, 0, len(s.policies)+len(s.mutating))
	for _, p := range slices.Concat(s.policies, s.mutating) {
		info := Info{Name: p.name, Kind: p.kind, Rejected: p.rejected}
		for _, b := range p.bindings {
			info.Bindings = append(info.Bindings, b.name)
		}
		list = append(list, info)
	}
	slices.SortFunc(list, func(a, b Info) int { return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Kind, b.Kind)) })
	return list
}

// Mutates reports whether a MutatingAdmissionPolicy has a binding.
func (s *Set) Mutates() bool {
	return slices.ContainsFunc(s.mutating, func(p *compiledPolicy) bool { return len(p.bindings) > 0 })
}

// KubeVersion returns the Kubernetes minor that the set emulates.
func (s *Set) KubeVersion() string { return s.settings.version.String() }

// Compile compiles the ValidatingAdmissionPolicies, MutatingAdmissionPolicies, their bindings, and the webhook
// configurations among documents. Namespaces, RBAC objects, and CustomResourceDefinitions among them are used to
// match and evaluate. Other documents can be params objects.
//
// If documents are invalid, Compile returns a usable Set and *CompileErrors. Invalid policies and bindings are left
// out. If only an expression is invalid, the policy is kept, because only requests that need the expression fail, as
// in the API server. documents must not be modified afterwards.
func Compile(documents []map[string]any, cfg Config) (set *Set, err error) {
	l := &loader{policies: map[policyKey]*compiledPolicy{}, bindings: map[policyKey]bool{}, rbac: rbac{roles: map[roleKey]*role{}}}
	defer recovered(&l.name, &set, &err)
	settings, err := settingsOf(cfg)
	if err != nil {
		return nil, err
	}
	l.set = &Set{
		settings: settings, namespaces: map[string]map[string]any{}, params: map[paramKind][]paramsObject{}, scopes: map[schema.GroupKind]bool{},
		evaluations: &sync.Pool{New: func() any { return new(evaluation) }},
	}
	maps.Copy(l.set.scopes, cfg.Namespaced)
	for i, doc := range documents {
		if err := l.load(i, doc); err != nil {
			return nil, err
		}
	}
	l.finish()
	if len(l.errs) > 0 {
		return l.set, &CompileErrors{l.errs}
	}
	return l.set, nil
}

type loader struct {
	set      *Set
	errs     []*CompileError
	policies map[policyKey]*compiledPolicy // nil for an invalid policy
	bindings map[policyKey]bool            // the names of bindings, with the kind of their policies
	bound    []boundBinding
	rejected []policyKey // the policies of invalid bindings
	rbac     rbac
	// index, version, kind, and name identify the current document.
	index               int
	version, kind, name string
}

type policyKey struct{ kind, name string }

// The kinds of policies. The kinds of bindings have the suffix bindingSuffix.
const (
	validatingKind = "ValidatingAdmissionPolicy"
	mutatingKind   = "MutatingAdmissionPolicy"
	bindingSuffix  = "Binding"
)

func (l *loader) key() policyKey { return policyKey{strings.TrimSuffix(l.kind, bindingSuffix), l.name} }

type boundBinding struct {
	policy  policyKey
	binding *compiledBinding
	index   int // of the binding among the documents
}

type reporter = func(path, detail string)

// report adds an error about the current document, or a webhook in it, which is then dropped.
func (l *loader) report(path, detail string) { l.add(path, detail, 0, true) }

func (l *loader) reportExpression(path, detail string, offset int) {
	l.add(path, detail, offset, false)
}

func (l *loader) add(path, detail string, offset int, dropped bool) {
	l.errs = append(l.errs, &CompileError{Document: l.index, Kind: l.kind, Name: l.name, Path: path, Detail: detail, Offset: offset, Dropped: dropped})
}

// load returns an error only if compiling as a whole failed.
func (l *loader) load(index int, doc map[string]any) error {
	h, err := headerOf(doc)
	l.version = h.Version
	l.index, l.kind, l.name = index, cmp.Or(h.Kind, "document"), cmp.Or(h.name, fmt.Sprintf("(document %d)", index+1))
	if err != nil {
		l.report("", err.Error())
		return nil
	}
	switch {
	case h.Group == registration:
		return l.loadRegistration(h, doc)
	case h.Group == rbacGroup:
		if err := l.rbac.add(h, doc); err != nil {
			l.report("", err.Error())
		}
	case h.Group == crdGroup && h.Kind == "CustomResourceDefinition":
		l.loadScope(doc)
	case h.Group == "" && h.Kind == "Namespace":
		l.set.namespaces[h.name] = withNameLabel(doc, h.name)
		fallthrough
	default:
		l.addParams(h)
	}
	return nil
}

// versions lists the versions of policies and webhook configurations, the newest first.
var versions = []string{"v1", "v1beta1", "v1alpha1"}

func (l *loader) loadRegistration(h header, doc map[string]any) error {
	if !slices.Contains(versions, h.Version) {
		l.report("apiVersion", fmt.Sprintf("got %q, want %s/v1", h.apiVersion, registration))
		return nil
	}
	switch {
	case h.name == "":
		l.report("metadata.name", "the name is missing")
		return nil
	case len(apivalidation.IsDNS1123Subdomain(h.name)) > 0:
		l.report("metadata.name", fmt.Sprintf("got %q, want lowercase letters, digits, hyphens, and dots, with a letter or digit at each end of a part", h.name))
		return nil
	}
	switch h.Kind {
	case validatingKind:
		return l.loadPolicy(doc)
	case validatingKind + bindingSuffix:
		l.loadBinding(doc)
	case mutatingKind:
		l.policies[l.key()] = l.policies[l.key()] // known to its bindings, even if it is not supported
		if l.supportsMutating(h) {
			return l.loadPolicy(doc)
		}
	case mutatingKind + bindingSuffix:
		if l.supportsMutating(h) {
			var d mutatingBindingDocument
			l.addBinding(doc, &d, &d.Spec)
		}
	case ValidatingWebhooks, MutatingWebhooks:
		return l.loadWebhooks(doc)
	default:
		kinds := []string{validatingKind, validatingKind + bindingSuffix, mutatingKind, mutatingKind + bindingSuffix, ValidatingWebhooks, MutatingWebhooks}
		l.report("kind", fmt.Sprintf("%s has no such kind: check the spelling%s", registration, spell.DidYouMean(h.Kind, kinds)))
	}
	return nil
}

type document interface {
	base() *policyBase
	check(reporter)
	body() body
}

func newDocument(kind string) document {
	switch kind {
	case validatingKind:
		return &policyDocument{}
	case mutatingKind:
		return &mutatingDocument{}
	}
	return nil
}

func (l *loader) loadPolicy(doc map[string]any) error {
	key, d := l.key(), newDocument(l.kind)
	known := l.policies[key]
	l.policies[key] = known
	if err := decode(doc, d); err != nil {
		l.report(pathOf(err), err.Error())
		return nil
	}
	if known != nil {
		l.report("metadata.name", "several policies have this name: remove all but one")
		return nil
	}
	before, base := len(l.errs), d.base()
	d.check(l.report)
	p := &compiledPolicy{kind: key.kind, name: key.name, paramKind: base.ParamKind, ignore: isIgnore(base.FailurePolicy)}
	if m := base.MatchConstraints; m != nil {
		p.constraints = newConstraints(m, "spec.matchConstraints", l.report)
	}
	if len(l.errs) > before {
		return nil
	}
	l.policies[key] = p
	return p.use(l.set.settings, d.body(), l.reportExpression)
}

func isIgnore(failurePolicy *string) bool { return failurePolicy != nil && *failurePolicy == "Ignore" }

func (p *compiledPolicy) use(s settings, b body, report expressionReport) error {
	compiled, err := compile(s, b, report)
	if err != nil {
		return err
	}
	p.program, p.body = compiled.trimmed(), b
	p.explained = sync.OnceValues(func() (*program, error) { return compile(s, b, func(string, string, int) {}) })
	p.runs = &sync.Pool{New: func() any { return newRun(compiled) }}
	return nil
}

func (l *loader) loadBinding(doc map[string]any) {
	var d bindingDocument
	if b := l.addBinding(doc, &d, &d.Spec.bindingBase); b != nil {
		b.actions = d.Spec.ValidationActions
	}
}

// addBinding decodes a binding into document, whose common fields base points to. It returns nil if the binding is
// invalid.
func (l *loader) addBinding(doc map[string]any, document interface{ check(reporter) }, base *bindingBase) *compiledBinding {
	key, before := l.key(), len(l.errs)
	defer func() {
		if len(l.errs) > before {
			l.rejected = append(l.rejected, policyKey{key.kind, base.PolicyName})
		}
	}()
	if err := decode(doc, document); err != nil {
		l.report(pathOf(err), err.Error())
		return nil
	}
	if l.bindings[key] {
		l.report("metadata.name", "several bindings have this name: remove all but one")
		return nil
	}
	document.check(l.report)
	b := &compiledBinding{name: key.name}
	if m := base.MatchResources; m != nil {
		b.constraints = newConstraints(m, "spec.matchResources", l.report)
	}
	if base.ParamRef != nil {
		if base.ParamRef.ParameterNotFoundAction == nil && l.version == "v1alpha1" {
			deny := "Deny" // the other versions have no default
			base.ParamRef.ParameterNotFoundAction = &deny
		}
		b.paramRef = newRef(base.ParamRef, l.report)
	}
	if len(l.errs) > before {
		return nil
	}
	l.bindings[key] = true
	l.bound = append(l.bound, boundBinding{policyKey{key.kind, base.PolicyName}, b, l.index})
	return b
}

func (l *loader) finish() {
	for _, b := range l.bound {
		if p, seen := l.policies[b.policy]; p != nil {
			p.bindings = append(p.bindings, b.binding)
			continue
		} else if seen {
			continue // the errors of the policy are reported
		}
		l.index, l.kind, l.name = b.index, b.policy.kind+bindingSuffix, b.binding.name
		var names []string
		for key := range l.policies {
			if key.kind == b.policy.kind {
				names = append(names, key.name)
			}
		}
		slices.Sort(names)
		near := spell.DidYouMean(b.policy.name, names)
		l.report("spec.policyName", fmt.Sprintf("no policy %q is among the documents: add it or correct the name%s", b.policy.name, near))
	}
	for _, key := range l.rejected {
		if p := l.policies[key]; p != nil {
			p.rejected = true
		}
	}
	for _, p := range l.policies {
		if p == nil {
			continue
		}
		slices.SortFunc(p.bindings, func(a, b *compiledBinding) int { return strings.Compare(a.name, b.name) })
		if p.kind == mutatingKind {
			l.set.mutating = append(l.set.mutating, p)
		} else {
			l.set.policies = append(l.set.policies, p)
		}
	}
	for _, list := range [][]*compiledPolicy{l.set.policies, l.set.mutating} {
		slices.SortFunc(list, func(a, b *compiledPolicy) int { return strings.Compare(a.name, b.name) })
	}
	for _, list := range l.set.params {
		slices.SortStableFunc(list, compareParams)
	}
	slices.SortStableFunc(l.set.webhooks, func(a, b *compiledWebhook) int { return strings.Compare(a.configuration, b.configuration) })
	if l.set.settings.Authorize == nil {
		l.set.settings.Authorize = l.rbac.authorizer()
	}
}
