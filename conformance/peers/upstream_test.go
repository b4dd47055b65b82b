package main

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

type upstream struct {
	schema    *schema.Structural
	rules     *upstreamcel.Validator
	validator validation.SchemaValidator
	create    rest.RESTCreateStrategy
	update    rest.RESTUpdateStrategy
}

func newUpstream(crd *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion) (*upstream, error) {
	internal := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(v.Schema, internal, nil); err != nil {
		return nil, err
	}
	s, err := schema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	u := &upstream{schema: s.DeepCopy()}
	if err := defaulting.PruneDefaults(u.schema); err != nil {
		return nil, err
	}
	if u.validator, _, err = validation.NewSchemaValidator(internal.OpenAPIV3Schema); err != nil {
		return nil, err
	}
	u.rules = upstreamcel.NewValidator(u.schema, true, celconfig.PerCallLimit)
	var status *apiextensions.CustomResourceSubresourceStatus
	if v.Subresources != nil && v.Subresources.Status != nil {
		status = &apiextensions.CustomResourceSubresourceStatus{}
	}
	gvk := runtimeschema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}
	strategy := customresource.NewStrategy(crdserverscheme.NewUnstructuredObjectTyper(), crd.Spec.Scope == apiextensionsv1.NamespaceScoped, gvk, u.validator, nil, u.schema, status, nil, nil)
	u.create, u.update = strategy, strategy
	return u, nil
}

// The server evaluates rules only if the schema accepts the object.
func (u *upstream) valid(obj map[string]any) bool {
	return len(validation.ValidateCustomResource(nil, obj, u.validator)) == 0
}

// write performs the server's steps from a decoded object up to storage, and the steps for the old object
// after it was read.
func (u *upstream) write(obj, old map[string]any) {
	ctx := genericapirequest.WithNamespace(context.Background(), "default")
	u2 := u.prepared(obj)
	if u2 == nil {
		return
	}
	var err error
	if old == nil {
		err = rest.BeforeCreate(u.create, ctx, u2)
	} else if was := u.prepared(old); was != nil {
		err = rest.BeforeUpdate(u.update, ctx, u2, was)
	}
	if err == nil {
		u.coerce(u2.Object)
	}
}

// copyBoth makes the copies that write needs only because it modifies its arguments.
func copyBoth(obj, old map[string]any) {
	runtime.DeepCopyJSON(obj)
	if old != nil {
		runtime.DeepCopyJSON(old)
	}
}

func (u *upstream) prepared(obj map[string]any) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(obj)}
	if !u.coerce(out.Object) {
		return nil
	}
	out.SetUID("1")
	out.SetCreationTimestamp(metav1.Unix(1, 0))
	out.SetResourceVersion("1")
	out.SetNamespace("default")
	return out
}

func (u *upstream) coerce(obj map[string]any) bool {
	meta, found, err := objectmeta.GetObjectMeta(obj, false)
	if err != nil {
		return false
	}
	pruning.PruneWithOptions(obj, u.schema, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(obj, u.schema)
	if err := objectmeta.Coerce(nil, obj, u.schema, false, false); err != nil {
		return false
	}
	if found {
		if err := objectmeta.SetObjectMeta(obj, meta); err != nil {
			return false
		}
	}
	defaulting.Default(obj, u.schema)
	return true
}
