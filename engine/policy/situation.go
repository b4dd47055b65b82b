package policy

import (
	"context"
	"fmt"
	"maps"

	celtypes "github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A situation is a request with everything derived from it that several policies need, and the state of its evaluation.
type situation struct {
	ctx context.Context
	set *Set
	req *Request

	workLeft uint64
	// kept counts the evaluations, decisions, and mutations so far, and texts the bytes of their messages and audit annotations.
	kept, texts int
	ended       bool // by a limit
	undecided   []Undecided

	converted []converted
	namespace map[string]any // nil if unknown
	looked    bool           // namespace was looked up
	filtered  map[string]any // see filteredNamespace
	full      map[string]any // see fullNamespace
}

// proceed takes the work of the next step of a policy with a binding. At a limit, it ends the evaluation of the request
// as undecided, and returns false.
func (s *situation) proceed(p *compiledPolicy, b *compiledBinding, units int) bool {
	reason := errWork
	switch {
	case s.workLeft < uint64(units):
	case s.kept > maxKept:
		reason = errMany
	case s.texts > maxTexts:
		reason = errTexts
	default:
		s.workLeft -= uint64(units)
		return true
	}
	s.ended = true
	s.undecide(p, b, reason.reason)
	return false
}

// undecide records why the result of a policy is not known. b may be nil.
func (s *situation) undecide(p *compiledPolicy, b *compiledBinding, reason string) {
	u := Undecided{Policy: p.name, Reason: reason}
	if b != nil {
		u.Binding = b.name
	}
	s.undecided = append(s.undecided, u)
}

// matches also returns false if it is undecided whether c matches. c may be nil.
func (s *situation) matches(p *compiledPolicy, b *compiledBinding, c *constraints) (to *Equivalent, ok bool) {
	if c == nil {
		return nil, true
	}
	to, ok, err := c.matches(s)
	if err != nil {
		s.undecide(p, b, err.Error())
	}
	return to, ok && err == nil
}

// paramsOf returns an empty list if the policy is skipped, undecided, or fails.
func (s *situation) paramsOf(p *compiledPolicy, b *compiledBinding) (list []map[string]any, failure string) {
	candidates := 0
	if p.paramKind != nil && b.paramRef != nil {
		candidates = len(s.set.params[*p.paramKind])
	}
	if !s.proceed(p, b, candidateWork*candidates) {
		return nil, ""
	}
	list, failure, undecided := s.set.paramsOf(p, b, s.req)
	if undecided != "" {
		s.undecide(p, b, undecided)
	}
	return list, failure
}

func (s *situation) begin(r *run, to *converted, params map[string]any) {
	r.start(s.ctx, s.workLeft)
	r.authority.decide = s.set.settings.Authorize
	r.bindUsed(objectRoot, to.object)
	r.bindUsed(oldObjectRoot, to.oldObject)
	r.bindUsed(paramsRoot, params)
	if r.program.uses[variablesRoot] {
		r.activation.Set(variablesRoot, &r.variables)
	}
	r.bindAuthorizer(s.req, true)
}

// end returns why the result of a run is not known, or "". The error is the context's or an internal error.
func (s *situation) end(r *run, policy string) (undecided string, err error) {
	s.workLeft = r.workLeft
	if r.bug != nil {
		return "", internal(policy, r.bug)
	}
	return r.whyUndecided(), context.Cause(s.ctx)
}

type converted struct {
	resource          schema.GroupVersionResource
	kind              schema.GroupVersionKind
	equivalent        *Equivalent // nil for the request's own version
	object, oldObject map[string]any
	values            map[schema.GroupVersionResource]map[string]any // of request, by resource
	err               error
}

// to returns the objects of the request in a version, or in its own version for nil. The result is valid until the
// next call.
func (s *situation) to(e *Equivalent) *converted {
	for i := range s.converted {
		if c := &s.converted[i]; c.equivalent == e {
			return c
		}
	}
	s.converted = append(s.converted, converted{resource: s.req.Resource, kind: s.req.Kind, equivalent: e})
	c := &s.converted[len(s.converted)-1]
	if c.object, c.oldObject = s.req.Object, s.req.OldObject; e != nil {
		c.resource, c.kind = e.Resource, e.Kind
		if c.object, c.err = convert(c.object, e.Convert, e.Kind); c.err == nil {
			c.oldObject, c.err = convert(c.oldObject, e.Convert, e.Kind)
		}
	}
	return c
}

// convert changes only apiVersion if with is nil, as with the conversion strategy None. object may be nil.
func convert(object map[string]any, with func(map[string]any) (map[string]any, error), to schema.GroupVersionKind) (map[string]any, error) {
	switch {
	case object == nil:
		return nil, nil
	case with != nil:
		return with(object)
	}
	out := maps.Clone(object)
	out["apiVersion"] = to.GroupVersion().String()
	return out, nil
}

func (s *situation) request(resource schema.GroupVersionResource, to *converted) map[string]any {
	if value := to.values[resource]; value != nil {
		return value
	}
	value := s.req.value(resource, to.kind)
	if to.values == nil {
		to.values = map[schema.GroupVersionResource]map[string]any{}
	}
	to.values[resource] = value
	return value
}

func (s *situation) lookup() map[string]any {
	if !s.looked {
		s.looked = true
		if s.namespace = s.set.namespaces[s.req.Namespace]; s.req.NamespaceObject != nil {
			s.namespace = withNameLabel(s.req.NamespaceObject, s.req.Namespace)
		}
	}
	return s.namespace
}

// nameLabel is the label that a server adds to each Namespace.
const nameLabel = "kubernetes.io/metadata.name"

func withNameLabel(namespace map[string]any, name string) map[string]any {
	meta, _ := namespace["metadata"].(map[string]any)
	given, _ := meta["labels"].(map[string]any)
	labels := map[string]any{}
	maps.Copy(labels, given)
	labels[nameLabel] = name
	whole, namespace := map[string]any{}, maps.Clone(namespace)
	maps.Copy(whole, meta)
	namespace["metadata"], whole["labels"] = whole, labels
	return namespace
}

// namespaceLabels returns the object's own labels when a Namespace is created or updated.
func (s *situation) namespaceLabels() (set labels.Set, known bool) {
	if s.req.Resource.Resource == "namespaces" && s.req.Subresource == "" && (s.req.Operation == OperationCreate || s.req.Operation == OperationUpdate) {
		return objectLabels(s.req.Object), true
	}
	namespace := s.lookup()
	if namespace == nil {
		return nil, false
	}
	return objectLabels(namespace), true
}

// needsNamespace reports whether the server reads the Namespace of the request.
func (s *situation) needsNamespace() bool {
	return s.req.Namespace != "" && s.req.Kind != schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
}

var namespaceMetadata = []string{
	"name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
	"labels", "annotations", "finalizers",
}

// filteredNamespace returns the value of namespaceObject in validations.
func (s *situation) filteredNamespace() map[string]any {
	full := s.fullNamespace()
	if s.filtered != nil || full == nil {
		return s.filtered
	}
	meta, _ := full["metadata"].(map[string]any)
	s.filtered = map[string]any{"metadata": only(meta, namespaceMetadata...), "spec": full["spec"], "status": full["status"]}
	return s.filtered
}

// fullNamespace returns the value of namespaceObject in audit annotations and mutations. Like a decoded
// Namespace in the server, it has no apiVersion and kind, always spec and status, and no empty fields. The
// server's cache of built-in kinds has no managedFields.
func (s *situation) fullNamespace() map[string]any {
	if s.full != nil || !s.needsNamespace() || s.lookup() == nil {
		return s.full
	}
	section := func(name string) map[string]any {
		given, _ := s.namespace[name].(map[string]any)
		return given
	}
	status := only(section("status"), "phase", "conditions")
	if list, ok := status["conditions"].([]any); ok {
		conditions := make([]any, len(list))
		for i, item := range list {
			given, _ := item.(map[string]any)
			c := only(given, "lastTransitionTime", "reason", "message")
			c["type"], c["status"] = textOf(given, "type"), textOf(given, "status")
			conditions[i] = c
		}
		status["conditions"] = conditions
	}
	meta := only(section("metadata"), append([]string{"selfLink", "ownerReferences"}, namespaceMetadata...)...)
	s.full = map[string]any{"metadata": meta, "spec": only(section("spec"), "finalizers"), "status": status}
	return s.full
}

// only returns the given fields that are not empty.
func only(object map[string]any, fields ...string) map[string]any {
	out := make(map[string]any, len(fields))
	for _, field := range fields {
		if v := object[field]; !isEmpty(v) {
			out[field] = v
		}
	}
	return out
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return v == nil || v == "" || v == int64(0)
}

func textOf(object map[string]any, field string) string {
	text, _ := object[field].(string)
	return text
}

func (r *run) bindConditions(s *situation, to *converted) {
	r.bindUsed(namespaceRoot, nil)
	r.bindRequestValue(s, s.req.Resource, to)
}

func (r *run) bindValidations(s *situation, to *converted) {
	r.bindNamespace(s, s.filteredNamespace)
	r.bindRequestValue(s, to.resource, to)
}

func (r *run) bindMutations(s *situation, resource schema.GroupVersionResource, to *converted) {
	r.bindNamespace(s, s.fullNamespace)
	r.bindRequestValue(s, resource, to)
}

func (r *run) bindRequestValue(s *situation, resource schema.GroupVersionResource, to *converted) {
	if r.program.uses[requestRoot] {
		r.bindStruct(s, requestRoot, s.request(resource, to))
	}
}

func (r *run) bindNamespace(s *situation, of func() map[string]any) {
	if !r.program.uses[namespaceRoot] {
		return
	}
	switch value := of(); {
	case !s.needsNamespace() || s.lookup() != nil:
		r.bindStruct(s, namespaceRoot, value)
	case !r.program.readsNamespace:
		r.bindStruct(s, namespaceRoot, map[string]any{"metadata": map[string]any{"name": s.req.Namespace}})
	default:
		r.noNamespace = fmt.Sprintf("an expression needs the Namespace %s, which is not among the documents: add it", s.req.Namespace)
		r.activation.Set(namespaceRoot, celtypes.NewErr("%s", r.noNamespace))
	}
}
