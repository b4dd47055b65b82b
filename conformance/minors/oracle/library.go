package main

import (
	"fmt"
	"runtime/debug"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
)

// ratchetsStatus is the first minor in which rules are ratcheted in writes of the status subresource as well.
const ratchetsStatus = 33

// minor returns the minor version of the linked libraries, for example 31 for Kubernetes 1.31.
var minor = sync.OnceValue(func() (n int) {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, m := range build.Deps {
			if m.Path == "k8s.io/apiextensions-apiserver" {
				_, _ = fmt.Sscanf(m.Version, "v0.%d.", &n)
			}
		}
	}
	return n
})

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
	Rules                      *cel.Validator // nil without rules
	Status                     *apiextensions.CustomResourceSubresourceStatus
	Scale                      *apiextensions.CustomResourceSubresourceScale
	Version                    *apiextensionsv1.CustomResourceDefinitionVersion
}
