package main

import (
	"context"
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
)

type writeAnswer struct {
	Accepted      bool           `json:"accepted"`
	Code          int32          `json:"code"`
	Message       string         `json:"message,omitempty"`
	Causes        []cause        `json:"causes,omitempty"`
	Warnings      []string       `json:"warnings,omitempty"`
	UnknownFields []string       `json:"unknownFields,omitempty"`
	Cost          *int64         `json:"cost,omitempty"`
	Persisted     map[string]any `json:"persisted,omitempty"`
}

type cause struct {
	Type    string `json:"type"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

type recorder struct{ warnings []string }

// AddWarning implements warning.Recorder.
func (r *recorder) AddWarning(_, text string) { r.warnings = append(r.warnings, text) }

func (s *service) write(req *request) (*writeAnswer, error) {
	r, err := s.resource(req.CRD, req.Version)
	if err != nil {
		return nil, err
	}
	strategy, err := r.strategy(req)
	if err != nil {
		return nil, err
	}
	obj, unknown, err := r.decode(req.Object, false)
	if err != nil {
		return nil, err
	}
	var old *unstructured.Unstructured
	if req.Old != nil {
		if old, _, err = r.decode(req.Old, true); err != nil {
			return nil, err
		}
	}
	warnings := &recorder{}
	ctx := warning.WithWarningRecorder(r.prepare(obj, old), warnings)
	a := &writeAnswer{}
	if old == nil {
		a.setStatus(rest.BeforeCreate(strategy, ctx, obj), 201)
	} else {
		a.setStatus(rest.BeforeUpdate(strategy, ctx, obj, old), 200)
	}
	a.Warnings, a.UnknownFields = warnings.warnings, unknown
	if !a.skipsRules() {
		a.Cost = s.cost(ctx, r.Resource, obj, old, req.Subresource != "")
	}
	if a.Accepted {
		a.Persisted, err = r.persisted(obj)
	}
	return a, err
}

func (r *servedResource) strategy(req *request) (Strategy, error) {
	switch {
	case req.Subresource == "":
		return r.resource, nil
	case req.Subresource != "status" || r.Status == nil || req.Old == nil:
		return nil, errors.New("want subresource status, in a version that has it, and an old object")
	}
	return r.status, nil
}

// prepare sets the metadata that the server sets before validation.
func (r *Resource) prepare(obj, old *unstructured.Unstructured) context.Context {
	namespace := ""
	if r.NamespaceScoped {
		if namespace = obj.GetNamespace(); namespace == "" {
			namespace = metav1.NamespaceDefault
		}
		obj.SetNamespace(namespace)
	}
	if old == nil {
		rest.WipeObjectMetaSystemFields(obj)
		rest.FillObjectMetaSystemFields(obj)
		if r.isManaged(obj) {
			obj.SetManagedFields([]metav1.ManagedFieldsEntry{{Operation: metav1.ManagedFieldsOperationUpdate, FieldsType: "FieldsV1"}})
		}
		if prefix := obj.GetGenerateName(); prefix != "" && obj.GetName() == "" {
			obj.SetName(generatedName(prefix))
		}
	} else {
		if old.GetNamespace() == "" {
			old.SetNamespace(namespace)
		}
		if old.GetResourceVersion() == "" {
			old.SetResourceVersion("1")
		}
		if obj.GetResourceVersion() == "" {
			obj.SetResourceVersion(old.GetResourceVersion())
		}
	}
	return genericapirequest.WithNamespace(genericapirequest.NewContext(), namespace)
}

// isManaged reports whether an object has fields whose managers the server tracks. A create resets the status.
func (r *Resource) isManaged(obj *unstructured.Unstructured) bool {
	for name := range obj.Object {
		if name != "apiVersion" && name != "kind" && name != "metadata" && (name != "status" || r.Status == nil) {
			return true
		}
	}
	return obj.GetLabels() != nil || obj.GetAnnotations() != nil || obj.GetFinalizers() != nil || obj.GetOwnerReferences() != nil
}

// The name has the form that the server generates.
func generatedName(prefix string) string {
	const suffix, maxLength = "00000", 63
	if len(prefix) > maxLength-len(suffix) {
		prefix = prefix[:maxLength-len(suffix)]
	}
	return prefix + suffix
}

func (a *writeAnswer) setStatus(err error, code int32) {
	if a.Accepted, a.Code = err == nil, code; a.Accepted {
		return
	}
	status := apierrors.NewInternalError(err).Status()
	var known apierrors.APIStatus
	if errors.As(err, &known) {
		status = known.Status()
	}
	a.Code, a.Message = status.Code, status.Message
	if status.Details == nil {
		return
	}
	for _, c := range status.Details.Causes {
		a.Causes = append(a.Causes, cause{string(c.Type), c.Field, c.Message})
	}
}

// skipsRules reports whether the strategy skipped the rules.
func (a *writeAnswer) skipsRules() bool {
	for _, c := range a.Causes {
		if strings.Contains(c.Message, "some validation rules were not checked because the object was invalid") {
			return true
		}
	}
	return !a.Accepted && a.Code != 422
}

func (s *service) cost(ctx context.Context, r *Resource, obj, old *unstructured.Unstructured, status bool) *int64 {
	cost := int64(0)
	if r.Rules == nil {
		return &cost
	}
	var remaining int64
	if old == nil {
		_, remaining = validate(ctx, r, obj.Object, nil, false)
	} else {
		_, remaining = validate(ctx, r, obj.Object, old.Object, !status || minor() >= ratchetsStatus)
	}
	cost = celconfig.RuntimeCELCostBudget - remaining
	return &cost
}

// persisted leaves out the metadata that a server manages. Reading from etcd sets defaults again, for
// example in a status that the strategy removed.
func (r *Resource) persisted(obj *unstructured.Unstructured) (map[string]any, error) {
	data, err := obj.MarshalJSON()
	if err != nil {
		return nil, err
	}
	stored, _, err := r.decode(data, true)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"uid", "creationTimestamp", "resourceVersion", "generation", "managedFields"} {
		unstructured.RemoveNestedField(stored.Object, "metadata", name)
	}
	return stored.Object, nil
}
