package policies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/celadon-cel/celadon/engine/policy"
)

// Upstream evaluates policies with the API server's code.
type Upstream struct {
	hooks      []validating.PolicyHook
	namespaces corelisters.NamespaceLister
	authorize  func(policy.Access) policy.Authorization
	// budget and matchBudget replace the server's budgets if they are not 0.
	budget, matchBudget int64
	spent, matchSpent   int64
}

// NewUpstream compiles the policies among documents. It skips invalid documents.
func NewUpstream(documents []map[string]any, cfg policy.Config) *Upstream {
	u := &Upstream{authorize: cfg.Authorize, budget: cfg.Limits.PerObject, matchBudget: cfg.MatchConditions}
	namespaces := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	u.namespaces = corelisters.NewNamespaceLister(namespaces)
	var bindings []*admissionregistration.ValidatingAdmissionPolicyBinding
	for _, doc := range documents {
		switch doc["kind"] {
		case "ValidatingAdmissionPolicy":
			var p admissionregistration.ValidatingAdmissionPolicy
			if decodeInto(doc, &p) == nil {
				defaultMatch(p.Spec.MatchConstraints)
				u.hooks = append(u.hooks, validating.PolicyHook{Policy: &p, Evaluator: u.compile(&p)})
			}
		case "ValidatingAdmissionPolicyBinding":
			var b admissionregistration.ValidatingAdmissionPolicyBinding
			if decodeInto(doc, &b) == nil {
				defaultMatch(b.Spec.MatchResources)
				bindings = append(bindings, &b)
			}
		case "Namespace":
			var n corev1.Namespace
			if decodeInto(doc, &n) == nil {
				n.TypeMeta, n.ManagedFields = metav1.TypeMeta{}, nil // as in the cache of kube-apiserver
				_ = namespaces.Add(&n)
			}
		}
	}
	slices.SortFunc(bindings, func(a, b *admissionregistration.ValidatingAdmissionPolicyBinding) int {
		return strings.Compare(a.Name, b.Name)
	})
	slices.SortFunc(u.hooks, func(a, b validating.PolicyHook) int { return strings.Compare(a.Policy.Name, b.Policy.Name) })
	for i := range u.hooks {
		h := &u.hooks[i]
		for _, b := range bindings {
			if b.Spec.PolicyName == h.Policy.Name {
				h.Bindings = append(h.Bindings, b)
			}
		}
		if k := h.Policy.Spec.ParamKind; k != nil {
			h.ParamInformer, h.ParamScope = informerOf(documents, k), meta.RESTScopeNamespace
		}
	}
	u.hooks = slices.DeleteFunc(u.hooks, func(h validating.PolicyHook) bool { return len(h.Bindings) == 0 })
	return u
}

func decodeInto(doc map[string]any, into any) error {
	data, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

func defaultMatch(m *admissionregistration.MatchResources) {
	if m == nil {
		return
	}
	if m.MatchPolicy == nil {
		equivalent := admissionregistration.Equivalent
		m.MatchPolicy = &equivalent
	}
	if m.NamespaceSelector == nil {
		m.NamespaceSelector = &metav1.LabelSelector{}
	}
	if m.ObjectSelector == nil {
		m.ObjectSelector = &metav1.LabelSelector{}
	}
}

type informer struct {
	cache.SharedIndexInformer
	lister cache.GenericLister
}

func (i informer) Informer() cache.SharedIndexInformer { return i }
func (i informer) Lister() cache.GenericLister         { return i.lister }
func (i informer) HasSynced() bool                     { return true }

func informerOf(documents []map[string]any, kind *admissionregistration.ParamKind) informers.GenericInformer {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, doc := range documents {
		if doc["kind"] == kind.Kind && doc["apiVersion"] == kind.APIVersion {
			_ = indexer.Add(&unstructured.Unstructured{Object: doc})
		}
	}
	return informer{lister: cache.NewGenericLister(indexer, schema.GroupResource{Resource: strings.ToLower(kind.Kind) + "s"})}
}

// compile compiles a policy like the server's plugin, with metered evaluators.
func (u *Upstream) compile(p *admissionregistration.ValidatingAdmissionPolicy) validating.Validator {
	vars := plugincel.OptionalVariableDeclarations{HasParams: p.Spec.ParamKind != nil, HasAuthorizer: true}
	messageVars := plugincel.OptionalVariableDeclarations{HasParams: vars.HasParams}
	c, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return validating.NewValidator(nil, nil, nil, nil, p.Spec.FailurePolicy, err)
	}
	for _, v := range p.Spec.Variables {
		c.CompileAndStoreVariable(&validating.Variable{Name: v.Name, Expression: v.Expression}, vars, environment.StoredExpressions)
	}
	var conditions, validations, messages, annotations []plugincel.ExpressionAccessor
	for i := range p.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&p.Spec.MatchConditions[i]))
	}
	for _, v := range p.Spec.Validations {
		validations = append(validations, &validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason})
		var message plugincel.ExpressionAccessor
		if v.MessageExpression != "" {
			message = &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression}
		}
		messages = append(messages, message)
	}
	for _, a := range p.Spec.AuditAnnotations {
		annotations = append(annotations, &validating.AuditAnnotationCondition{Key: a.Key, ValueExpression: a.ValueExpression})
	}
	evaluator := func(list []plugincel.ExpressionAccessor, vars plugincel.OptionalVariableDeclarations, budget, spent *int64) plugincel.ConditionEvaluator {
		return metered{c.CompileCondition(list, vars, environment.StoredExpressions), budget, spent}
	}
	var matcher matchconditions.Matcher
	if len(conditions) > 0 {
		matcher = matchconditions.NewMatcher(evaluator(conditions, vars, &u.matchBudget, &u.matchSpent), p.Spec.FailurePolicy, "policy", "validate", p.Name)
	}
	none := new(int64)
	return validating.NewValidator(
		evaluator(validations, vars, &u.budget, &u.spent), matcher, evaluator(annotations, vars, &u.budget, &u.spent),
		evaluator(messages, messageVars, none, &u.spent), p.Spec.FailurePolicy, nil,
	)
}

// metered counts the cost of evaluations and replaces their budget.
type metered struct {
	plugincel.ConditionEvaluator
	budget, spent *int64
}

func (m metered) ForInput(ctx context.Context, attr *admission.VersionedAttributes, request *admissionv1.AdmissionRequest, vars plugincel.OptionalVariableBindings, namespace *corev1.Namespace, budget int64) ([]plugincel.EvaluationResult, int64, error) {
	if *m.budget != 0 {
		budget = *m.budget
	}
	results, remaining, err := m.ConditionEvaluator.ForInput(ctx, attr, request, vars, namespace, budget)
	*m.spent += budget - max(remaining, 0)
	return results, remaining, err
}

type attributes struct {
	admission.Attributes
	notes map[string]string
}

func (a *attributes) AddAnnotation(key, value string) error {
	err := a.Attributes.AddAnnotation(key, value)
	if err == nil {
		a.notes[key] = value
	}
	return err
}

// objects implements admission.ObjectInterfaces for custom resources whose versions only differ in
// apiVersion.
type objects struct {
	admission.ObjectInterfaces
	mapper runtime.EquivalentResourceRegistry
}

func (o objects) GetObjectCreater() runtime.ObjectCreater                       { return o }
func (o objects) GetObjectConvertor() runtime.ObjectConvertor                   { return o }
func (o objects) GetEquivalentResourceMapper() runtime.EquivalentResourceMapper { return o.mapper }

func (objects) New(schema.GroupVersionKind) (runtime.Object, error) {
	return &unstructured.Unstructured{Object: map[string]any{}}, nil
}

func (objects) Convert(in, out, _ any) error {
	from, ok := in.(*unstructured.Unstructured)
	to, also := out.(*unstructured.Unstructured)
	if !ok || !also {
		return fmt.Errorf("cannot convert %T to %T", in, out)
	}
	to.Object = from.DeepCopy().Object
	return nil
}

func (objects) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (objects) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

type authority struct {
	decide func(policy.Access) policy.Authorization
}

func (a authority) Authorize(_ context.Context, of authorizer.Attributes) (authorizer.Decision, string, error) {
	if a.decide == nil {
		return authorizer.DecisionNoOpinion, "", errors.New("no authorizer")
	}
	access := policy.Access{Verb: of.GetVerb(), User: policy.User{Name: of.GetUser().GetName(), Groups: of.GetUser().GetGroups()}}
	if of.IsResourceRequest() {
		access.Group, access.Resource, access.Subresource, access.Namespace, access.Name = of.GetAPIGroup(), of.GetResource(), of.GetSubresource(), of.GetNamespace(), of.GetName()
	} else {
		access.Path = of.GetPath()
	}
	d := a.decide(access)
	if d.Allowed {
		return authorizer.DecisionAllow, d.Reason, nil
	}
	return authorizer.DecisionNoOpinion, d.Reason, nil
}

// warnings records warnings that an HTTP header can carry.
type warnings struct{ list []string }

func (w *warnings) AddWarning(_, text string) {
	if _, err := net.NewWarningHeader(299, "", text); err != nil {
		return
	}
	if !slices.Contains(w.list, text) {
		w.list = append(w.list, text)
	}
}

// Answer is the response of either side in a comparable form.
type Answer struct {
	Failure  *metav1.Status
	Warnings []string
	Notes    map[string]string
	// Cost and MatchCost are sums over all evaluations.
	Cost, MatchCost int64
	Err             string
}

// Evaluate evaluates a request with the server's code.
func (u *Upstream) Evaluate(req *policy.Request) Answer {
	info := &user.DefaultInfo{Name: req.User.Name, UID: req.User.UID, Groups: req.User.Groups, Extra: req.User.Extra}
	attr := &attributes{admission.NewAttributesRecord(
		asObject(req.Object), asObject(req.OldObject), req.Kind, req.Namespace, req.Name, req.Resource, req.Subresource,
		admission.Operation(req.Operation), optionsOf(req), req.DryRun, info,
	), map[string]string{}}
	mapper := runtime.NewEquivalentResourceRegistry()
	mapper.RegisterKindFor(req.Resource, req.Subresource, req.Kind)
	for _, e := range req.Equivalents {
		mapper.RegisterKindFor(e.Resource, req.Subresource, e.Kind)
	}
	recorder := &warnings{}
	ctx, cancel := context.WithTimeout(warning.WithWarningRecorder(context.Background(), recorder), time.Minute)
	defer cancel()
	u.spent, u.matchSpent = 0, 0
	d := validating.NewDispatcher(authority{u.authorize}, generic.NewPolicyMatcher(matching.NewMatcher(u.namespaces, nil)))
	err := d.Dispatch(ctx, attr, objects{mapper: mapper}, u.hooks)
	answer := Answer{Warnings: recorder.list, Notes: attr.notes, Cost: u.spent, MatchCost: u.matchSpent}
	var status *apierrors.StatusError
	switch {
	case errors.As(err, &status):
		answer.Failure = &status.ErrStatus
	case err != nil:
		answer.Err = err.Error()
	}
	return answer
}

func asObject(o map[string]any) runtime.Object {
	if o == nil {
		return nil
	}
	return &unstructured.Unstructured{Object: o}
}

// optionsOf returns the options of a client that sets at most dryRun.
func optionsOf(req *policy.Request) runtime.Object {
	version := metav1.SchemeGroupVersion.WithKind("").GroupVersion().String()
	var dryRun []string
	if req.DryRun {
		dryRun = []string{metav1.DryRunAll}
	}
	switch req.Operation {
	case policy.OperationCreate:
		return &metav1.CreateOptions{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "CreateOptions"}, DryRun: dryRun}
	case policy.OperationUpdate:
		return &metav1.UpdateOptions{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "UpdateOptions"}, DryRun: dryRun}
	case policy.OperationDelete:
		return &metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "DeleteOptions"}, DryRun: dryRun}
	}
	return nil
}
