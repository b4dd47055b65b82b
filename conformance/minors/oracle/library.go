package oracle

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Library holds the calls that differ between minors.
type Library struct {
	// Minor is the Kubernetes version, for example 1.31.
	Minor string
	// EnvSet returns the CEL environments in which the server compiles rules.
	EnvSet func() *environment.EnvSet
	// UsesOldSelf reports whether a compiled rule is a transition rule.
	UsesOldSelf func(cel.CompilationResult) bool
	// NewStrategies returns the strategies of a custom resource and of its status subresource.
	NewStrategies func(*Resource) (resource, status Strategy)
	// Validate validates a value with the resource's rules and returns the errors and the remaining
	// budget. For a create, old is nil. With ratchet, it ratchets as the strategy of the minor does.
	Validate func(ctx context.Context, r *Resource, obj, old any, ratchet bool) (field.ErrorList, int64)
	// RatchetsStatus reports whether rules are ratcheted in writes of the status subresource, too.
	RatchetsStatus bool
}

// A Strategy validates the writes of a resource.
type Strategy interface {
	rest.RESTCreateStrategy
	rest.RESTUpdateStrategy
}

// A Resource is one version of a CRD, as the server serves it.
type Resource struct {
	Typer                      runtime.ObjectTyper
	Kind                       schema.GroupVersionKind
	NamespaceScoped            bool
	Validator, StatusValidator validation.SchemaValidator
	Structural                 *structuralschema.Structural
	Rules                      *cel.Validator // nil if there are none
	Status                     *apiextensions.CustomResourceSubresourceStatus
	Scale                      *apiextensions.CustomResourceSubresourceScale
	Version                    *apiextensionsv1.CustomResourceDefinitionVersion
}
