package policies

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kube-openapi/pkg/spec3"

	"github.com/celadon-cel/celadon/engine/policy"
)

// A Kind is a kind whose objects mutating policies change, with its schema for both sides.
type Kind struct {
	crd       *apiextensionsv1.CustomResourceDefinition
	schemas   map[string]*structural.Structural // by version
	merge     map[string]*policy.MergeSchema
	types     map[schema.GroupVersion]managedfields.TypeConverter
	converter runtime.ObjectConvertor
}

// CRD returns a copy of the CRD.
func (k *Kind) CRD() *apiextensionsv1.CustomResourceDefinition { return k.crd.DeepCopy() }

// NewKind returns the kind that a CRD defines.
func NewKind(crd *apiextensionsv1.CustomResourceDefinition) (*Kind, error) {
	k := &Kind{crd: crd, schemas: map[string]*structural.Structural{}, merge: map[string]*policy.MergeSchema{}, types: map[schema.GroupVersion]managedfields.TypeConverter{}}
	factory, err := conversion.NewCRConverterFactory(nil, nil)
	if err != nil {
		return nil, err
	}
	if crd.Spec.Conversion == nil {
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	}
	if k.converter, _, err = factory.NewConverter(crd); err != nil {
		return nil, err
	}
	for _, v := range crd.Spec.Versions {
		var props apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &props, nil); err != nil {
			return nil, err
		}
		if k.schemas[v.Name], err = structural.NewStructural(&props); err != nil {
			return nil, err
		}
		k.merge[v.Name] = policy.NewMergeSchema(k.schemas[v.Name])
		api, err := builder.BuildOpenAPIV3(crd, v.Name, builder.Options{AllowNonStructural: true})
		if err != nil {
			return nil, err
		}
		data, err := json.Marshal(api)
		if err != nil {
			return nil, err
		}
		var served spec3.OpenAPI
		if err := json.Unmarshal(data, &served); err != nil {
			return nil, err
		}
		types, err := managedfields.NewTypeConverter(served.Components.Schemas, false)
		if err != nil {
			return nil, err
		}
		k.types[schema.GroupVersion{Group: crd.Spec.Group, Version: v.Name}] = types
	}
	return k, nil
}

// GetTypeConverter implements patch.TypeConverterManager.
func (k *Kind) GetTypeConverter(gvk schema.GroupVersionKind) managedfields.TypeConverter {
	if t, ok := k.types[gvk.GroupVersion()]; ok {
		return t
	}
	return nil
}

// Run implements patch.TypeConverterManager.
func (k *Kind) Run(context.Context) {}

// prepare sets the schemas and defaults of a request. Like the server, it sets the defaults of the object first.
func (k *Kind) prepare(req *policy.Request) {
	if req.Object != nil {
		req.Object = runtime.DeepCopyJSON(req.Object)
		k.defaulter(req.Kind.Version)(req.Object)
	}
	req.Schema, req.Default = k.merge[req.Kind.Version], k.defaulter(req.Kind.Version)
	for i := range req.Equivalents {
		e := &req.Equivalents[i]
		e.Schema, e.Default = k.merge[e.Kind.Version], k.defaulter(e.Kind.Version)
	}
}

func (k *Kind) defaulter(version string) func(map[string]any) {
	return func(object map[string]any) { k.Default(&unstructured.Unstructured{Object: object}) }
}

// Default implements runtime.ObjectDefaulter.
func (k *Kind) Default(in runtime.Object) {
	u, ok := in.(*unstructured.Unstructured)
	if ok && u.GroupVersionKind().GroupKind() == (schema.GroupKind{Group: k.crd.Spec.Group, Kind: k.crd.Spec.Names.Kind}) {
		defaulting.Default(u.Object, k.schemas[u.GroupVersionKind().Version])
	}
}

// resource implements admission.ObjectInterfaces for a kind.
type resource struct {
	objects
	kind *Kind
}

func (r resource) GetObjectCreater() runtime.ObjectCreater     { return r }
func (r resource) GetObjectConvertor() runtime.ObjectConvertor { return r.kind.converter }
func (r resource) GetObjectDefaulter() runtime.ObjectDefaulter { return r.kind }
func (resource) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

func (resource) GetObjectTyper() runtime.ObjectTyper {
	return unstructuredscheme.NewUnstructuredObjectTyper()
}

// MutatingUpstream evaluates mutating policies with the API server's code.
type MutatingUpstream struct {
	Upstream
	mutating []mutating.PolicyHook
	kind     *Kind
}

// NewMutatingUpstream compiles the policies among documents that have a binding. It skips documents that cannot be
// decoded.
func NewMutatingUpstream(documents []map[string]any, cfg policy.Config, kind *Kind) *MutatingUpstream {
	atomic.StoreInt64(&jsonpatch.AccumulatedCopySizeLimit, 3<<20) // as the server sets it
	u := &MutatingUpstream{Upstream: Upstream{authorize: cfg.Authorize, budget: cfg.Limits.PerObject, matchBudget: cfg.MatchConditions}, kind: kind}
	namespaces := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	u.namespaces = corelisters.NewNamespaceLister(namespaces)
	var bindings []*admissionregistration.MutatingAdmissionPolicyBinding
	for _, doc := range documents {
		switch doc["kind"] {
		case "MutatingAdmissionPolicy":
			var p admissionregistration.MutatingAdmissionPolicy
			if decodeInto(doc, &p) == nil {
				defaultMatch(p.Spec.MatchConstraints)
				u.mutating = append(u.mutating, mutating.PolicyHook{Policy: &p, Evaluator: u.compileMutating(&p)})
			}
		case "MutatingAdmissionPolicyBinding":
			var b admissionregistration.MutatingAdmissionPolicyBinding
			if decodeInto(doc, &b) == nil {
				defaultMatch(b.Spec.MatchResources)
				bindings = append(bindings, &b)
			}
		case "Namespace":
			var n corev1.Namespace
			if decodeInto(doc, &n) == nil {
				n.TypeMeta = metav1.TypeMeta{}
				_ = namespaces.Add(&n)
			}
		}
	}
	slices.SortFunc(bindings, func(a, b *admissionregistration.MutatingAdmissionPolicyBinding) int {
		return strings.Compare(a.Name, b.Name)
	})
	slices.SortFunc(u.mutating, func(a, b mutating.PolicyHook) int { return strings.Compare(a.Policy.Name, b.Policy.Name) })
	for i := range u.mutating {
		h := &u.mutating[i]
		for _, b := range bindings {
			if b.Spec.PolicyName == h.Policy.Name {
				h.Bindings = append(h.Bindings, b)
			}
		}
		if k := h.Policy.Spec.ParamKind; k != nil {
			h.ParamInformer, h.ParamScope = informerOf(documents, k), meta.RESTScopeNamespace
		}
	}
	u.mutating = slices.DeleteFunc(u.mutating, func(h mutating.PolicyHook) bool { return len(h.Bindings) == 0 })
	return u
}

// compileMutating compiles a policy like the server's plugin, with metered evaluators.
func (u *MutatingUpstream) compileMutating(p *admissionregistration.MutatingAdmissionPolicy) mutating.PolicyEvaluator {
	vars := plugincel.OptionalVariableDeclarations{HasParams: p.Spec.ParamKind != nil, HasAuthorizer: true}
	c, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return mutating.PolicyEvaluator{Error: err}
	}
	for _, v := range p.Spec.Variables {
		c.CompileAndStoreVariable(&validating.Variable{Name: v.Name, Expression: v.Expression}, vars, environment.StoredExpressions)
	}
	e := mutating.PolicyEvaluator{CompositedCompiler: c}
	if len(p.Spec.MatchConditions) > 0 {
		var conditions []plugincel.ExpressionAccessor
		for i := range p.Spec.MatchConditions {
			conditions = append(conditions, (*matchconditions.MatchCondition)(&p.Spec.MatchConditions[i]))
		}
		compiled := metered{c.CompileCondition(conditions, vars, environment.StoredExpressions), &u.matchBudget, &u.matchSpent}
		e.Matcher = matchconditions.NewMatcher(compiled, p.Spec.FailurePolicy, "policy", "validate", p.Name)
	}
	vars.HasPatchTypes = true
	for _, m := range p.Spec.Mutations {
		if m.PatchType == admissionregistration.PatchTypeJSONPatch {
			x := c.CompileMutatingEvaluator(&patch.JSONPatchCondition{Expression: m.JSONPatch.Expression}, vars, environment.StoredExpressions)
			e.Mutators = append(e.Mutators, patch.NewJSONPatcher(meteredPatch{x, &u.budget, &u.spent}))
		} else {
			x := c.CompileMutatingEvaluator(&patch.ApplyConfigurationCondition{Expression: m.ApplyConfiguration.Expression}, vars, environment.StoredExpressions)
			e.Mutators = append(e.Mutators, patch.NewApplyConfigurationPatcher(meteredPatch{x, &u.budget, &u.spent}))
		}
	}
	return e
}

type meteredPatch struct {
	plugincel.MutatingEvaluator
	budget, spent *int64
}

func (m meteredPatch) ForInput(ctx context.Context, attr *admission.VersionedAttributes, request *admissionv1.AdmissionRequest, vars plugincel.OptionalVariableBindings, namespace *corev1.Namespace, budget int64) (plugincel.EvaluationResult, int64, error) {
	if *m.budget != 0 {
		budget = *m.budget
	}
	result, remaining, err := m.MutatingEvaluator.ForInput(ctx, attr, request, vars, namespace, budget)
	*m.spent += budget - max(remaining, 0)
	return result, remaining, err
}

// A MutatingAnswer is the response of either side to a mutating request in a comparable form.
type MutatingAnswer struct {
	Failure *metav1.Status
	Object  map[string]any
	// Cost and MatchCost are sums over all evaluations.
	Cost, MatchCost int64
	Err             string
}

// Mutate evaluates a request with the server's code.
func (u *MutatingUpstream) Mutate(req *policy.Request) MutatingAnswer {
	info := &user.DefaultInfo{Name: req.User.Name, UID: req.User.UID, Groups: req.User.Groups, Extra: req.User.Extra}
	object, old := copied(req.Object), copied(req.OldObject)
	attr := &attributes{admission.NewAttributesRecord(
		object, old, req.Kind, req.Namespace, req.Name, req.Resource, req.Subresource, admission.Operation(req.Operation), optionsOf(req), req.DryRun, info,
	), map[string]string{}}
	mapper := runtime.NewEquivalentResourceRegistry()
	mapper.RegisterKindFor(req.Resource, req.Subresource, req.Kind)
	for _, e := range req.Equivalents {
		mapper.RegisterKindFor(e.Resource, req.Subresource, e.Kind)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	u.spent, u.matchSpent = 0, 0
	d := mutating.NewDispatcher(authorizer.UnconditionalAuthorizer(authority{u.authorize}), matching.NewMatcher(u.namespaces, nil), u.kind)
	var err error
	if req.Operation != policy.OperationDelete {
		err = d.Dispatch(ctx, attr, resource{objects{mapper: mapper}, u.kind}, u.mutating)
		if again := attr.GetReinvocationContext(); err == nil && again.ShouldReinvoke() {
			again.SetIsReinvoke()
			err = d.Dispatch(ctx, attr, resource{objects{mapper: mapper}, u.kind}, u.mutating)
		}
	}
	answer := MutatingAnswer{Cost: u.spent, MatchCost: u.matchSpent}
	var status *apierrors.StatusError
	switch {
	case errors.As(err, &status):
		answer.Failure = &status.ErrStatus
	case err != nil:
		answer.Err = err.Error()
	case object != nil:
		answer.Object = object.(*unstructured.Unstructured).Object
	}
	return answer
}

func copied(o map[string]any) runtime.Object {
	if o == nil {
		return nil
	}
	return &unstructured.Unstructured{Object: runtime.DeepCopyJSON(o)}
}

// OwnMutate evaluates a request with engine/policy.
func OwnMutate(set *policy.Set, req *policy.Request) (MutatingAnswer, *policy.MutationResult) {
	res, err := set.Mutate(context.Background(), *req)
	if err != nil {
		return MutatingAnswer{Err: err.Error()}, nil
	}
	answer := MutatingAnswer{Failure: res.Failure, Object: res.Object, MatchCost: res.MatchCost}
	for _, e := range res.Evaluations {
		answer.Cost += e.Cost
	}
	return answer, res
}
