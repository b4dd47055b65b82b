package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Set is a set of compiled policies with everything that they refer to. It is immutable and safe
// for concurrent use.
type Set struct {
	settings   settings
	policies   []*compiledPolicy // sorted by name
	webhooks   []*compiledWebhook
	namespaces map[string]map[string]any
	params     map[paramKind][]paramsObject // sorted by namespace and name
	ownParams  map[paramKind][]paramsObject // see WithParams: in place of params of these kinds
	scopes     map[groupKind]bool           // whether a kind is namespaced
	authorize  func(Access) Authorization

	evaluations *sync.Pool // of *evaluation
}

type groupKind struct{ group, kind string }

// A compiledPolicy is a policy with its bindings.
type compiledPolicy struct {
	name           string
	program        *program
	constraints    *constraints
	ignore         bool // failurePolicy: Ignore
	paramKind      *paramKind
	validations    []validationTexts
	annotationKeys []string
	bindings       []*compiledBinding // sorted by name
	runs           sync.Pool          // of *run
	document       *policyDocument
	explained      func() (*explainer, error)
}

type validationTexts struct{ message, reason string }

type compiledBinding struct {
	name        string
	constraints *constraints // nil matches everything
	paramRef    *compiledRef
	actions     []Action
}

// An Info describes a policy of a Set.
type Info struct {
	Name string
	// Bindings is empty if the policy has no binding, and therefore no effect.
	Bindings []string
}

// Policies describes the policies of the set, sorted by name.
func (s *Set) Policies() []Info {
	list := make([]Info, len(s.policies))
	for i, p := range s.policies {
		list[i].Name = p.name
		for _, b := range p.bindings {
			list[i].Bindings = append(list[i].Bindings, b.name)
		}
	}
	return list
}

// KubeVersion returns the Kubernetes minor that the set emulates.
func (s *Set) KubeVersion() string { return s.settings.version.String() }

// Compile compiles the ValidatingAdmissionPolicies, their bindings, and the webhook configurations
// among documents. Namespaces, RBAC objects, and CustomResourceDefinitions among them are used to
// match and evaluate; any other document can be a params object.
//
// If documents are invalid, Compile returns a usable Set and *CompileErrors. Invalid policies and
// bindings are left out. If only an expression is invalid, the policy is kept, because each request
// that needs the expression then fails, as in the API server. documents must not be modified
// afterwards.
func Compile(documents []map[string]any, cfg Config) (set *Set, err error) {
	l := &loader{policies: map[string]*compiledPolicy{}, seen: map[string]bool{}, bindings: map[string]bool{}}
	defer func() {
		if p := recover(); p != nil {
			set, err = nil, internal(l.name, p)
		}
	}()
	settings, err := settingsOf(cfg)
	if err != nil {
		return nil, err
	}
	l.set = &Set{
		settings: settings, authorize: cfg.Authorize,
		namespaces: map[string]map[string]any{}, params: map[paramKind][]paramsObject{}, scopes: map[groupKind]bool{},
	}
	l.set.evaluations = &sync.Pool{New: func() any { return new(evaluation) }}
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

// A loader builds a Set from documents.
type loader struct {
	set      *Set
	errs     []*CompileError
	policies map[string]*compiledPolicy
	seen     map[string]bool // policies, also invalid ones
	bindings map[string]bool
	bound    []boundBinding
	rbac     rbac
	// index, kind, and name identify the current document.
	index      int
	kind, name string
}

// A boundBinding is a binding that is not yet attached to its policy.
type boundBinding struct {
	policy  string
	binding *compiledBinding
	index   int // of the binding among the documents
}

// report adds an error about the current document. A document with such an error is dropped.
func (l *loader) report(path, detail string) { l.add(path, detail, true) }

// reportExpression adds an error about an expression of the current document.
func (l *loader) reportExpression(path, detail string) { l.add(path, detail, false) }

func (l *loader) add(path, detail string, dropped bool) {
	l.errs = append(l.errs, &CompileError{Document: l.index, Kind: l.kind, Name: l.name, Path: path, Detail: detail, Dropped: dropped})
}

// load adds a document to the set. The error is set if compiling as a whole failed.
func (l *loader) load(index int, doc map[string]any) error {
	h, err := headerOf(doc)
	l.index, l.kind, l.name = index, cmp.Or(h.kind, "document"), cmp.Or(h.meta.Name, fmt.Sprintf("(document %d)", index+1))
	if err != nil {
		l.report("", err.Error())
		return nil
	}
	switch {
	case h.group == registration:
		return l.loadRegistration(h, doc)
	case h.group == rbacGroup:
		if err := l.rbac.add(h, doc); err != nil {
			l.report("", err.Error())
		}
	case h.group == crdGroup && h.kind == "CustomResourceDefinition":
		l.loadScope(doc)
	case h.group == "" && h.kind == "Namespace":
		l.set.namespaces[h.meta.Name] = doc
		l.addParams(h, doc)
	default:
		l.addParams(h, doc)
	}
	return nil
}

// versions lists the versions of policies and webhook configurations.
var versions = []string{"v1", "v1beta1", "v1alpha1"}

func (l *loader) loadRegistration(h header, doc map[string]any) error {
	if !slices.Contains(versions, h.version) {
		l.report("apiVersion", fmt.Sprintf("got %q, want %s/v1", h.apiVersion, registration))
		return nil
	}
	if h.meta.Name == "" {
		l.report("metadata.name", "the name is missing")
		return nil
	}
	switch h.kind {
	case "ValidatingAdmissionPolicy":
		return l.loadPolicy(doc)
	case "ValidatingAdmissionPolicyBinding":
		l.loadBinding(doc)
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		return l.loadWebhooks(doc)
	case "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding":
		l.report("kind", "mutating policies are not supported: apply them before the object is evaluated")
	default:
		l.report("kind", fmt.Sprintf("%s has no such kind: check the spelling", registration))
	}
	return nil
}

// loadPolicy compiles a policy, unless it is invalid.
func (l *loader) loadPolicy(doc map[string]any) error {
	l.seen[l.name] = true
	var d policyDocument
	if err := decode(doc, &d); err != nil {
		l.report("", err.Error())
		return nil
	}
	if l.policies[l.name] != nil {
		l.report("metadata.name", "several policies have this name: remove all but one")
		return nil
	}
	before := len(l.errs)
	d.check(l.report)
	p := &compiledPolicy{name: l.name, document: &d, paramKind: d.Spec.ParamKind, ignore: d.Spec.FailurePolicy != nil && *d.Spec.FailurePolicy == "Ignore"}
	if m := d.Spec.MatchConstraints; m != nil {
		p.constraints = newConstraints(m, "spec.matchConstraints", l.report)
	}
	if len(l.errs) > before {
		return nil
	}
	for _, v := range d.Spec.Validations {
		texts := validationTexts{message: trimmed(v.Message, "failed expression: "+strings.TrimSpace(v.Expression)), reason: "Invalid"}
		if v.Reason != nil {
			texts.reason = *v.Reason
		}
		p.validations = append(p.validations, texts)
	}
	for _, a := range d.Spec.AuditAnnotations {
		p.annotationKeys = append(p.annotationKeys, a.Key)
	}
	var err error
	if p.program, err = newPolicyProgram(l.set.settings, &d, l.reportExpression); err != nil {
		return err
	}
	p.runs.New = func() any { return newRun(p.program) }
	p.explained = sync.OnceValues(func() (*explainer, error) { return newExplainer(l.set.settings, &d) })
	l.policies[l.name] = p
	return nil
}

// loadBinding compiles a binding, unless it is invalid.
func (l *loader) loadBinding(doc map[string]any) {
	var d bindingDocument
	if err := decode(doc, &d); err != nil {
		l.report("", err.Error())
		return
	}
	if l.bindings[l.name] {
		l.report("metadata.name", "several bindings have this name: remove all but one")
		return
	}
	before := len(l.errs)
	d.check(l.report)
	b := &compiledBinding{name: l.name}
	if m := d.Spec.MatchResources; m != nil {
		b.constraints = newConstraints(m, "spec.matchResources", l.report)
	}
	if d.Spec.ParamRef != nil {
		b.paramRef = newRef(d.Spec.ParamRef, l.report)
	}
	for _, a := range d.Spec.ValidationActions {
		b.actions = append(b.actions, Action(a))
	}
	if len(l.errs) > before {
		return
	}
	l.bindings[l.name] = true
	l.bound = append(l.bound, boundBinding{d.Spec.PolicyName, b, l.index})
}

// finish attaches bindings to policies and sorts everything.
func (l *loader) finish() {
	for _, b := range l.bound {
		if p := l.policies[b.policy]; p != nil {
			p.bindings = append(p.bindings, b.binding)
			continue
		}
		if l.seen[b.policy] {
			continue // the errors of the policy are reported
		}
		l.index, l.kind, l.name = b.index, "ValidatingAdmissionPolicyBinding", b.binding.name
		l.report("spec.policyName", fmt.Sprintf("no policy %q is among the documents: add it or correct the name", b.policy))
	}
	for _, p := range l.policies {
		slices.SortFunc(p.bindings, func(a, b *compiledBinding) int { return strings.Compare(a.name, b.name) })
		l.set.policies = append(l.set.policies, p)
	}
	slices.SortFunc(l.set.policies, func(a, b *compiledPolicy) int { return strings.Compare(a.name, b.name) })
	for _, list := range l.set.params {
		slices.SortStableFunc(list, compareParams)
	}
	if l.set.authorize == nil && l.rbac.known() {
		l.set.authorize = l.rbac.authorizer()
	}
}
