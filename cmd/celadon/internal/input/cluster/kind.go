package cluster

import (
	"context"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
)

// A Kind identifies objects to list: a kind and a version.
type Kind struct {
	// Resource is the CRD's name: plural.group.
	Resource, Kind         string
	group, version, plural string
	namespaced             bool
	// note explains why version was chosen, if that is not obvious.
	note string
}

// KindOf returns the kind that a CRD defines, in its storage version: to read another version, the
// server may have to call a conversion webhook. If the storage version is not served, KindOf uses
// the first served version. It returns an error if no version is served.
func KindOf(crd *apiextensionsv1.CustomResourceDefinition) (Kind, error) {
	spec := &crd.Spec
	k := Kind{
		Resource: crd.Name, Kind: spec.Names.Kind,
		group: spec.Group, plural: spec.Names.Plural, namespaced: spec.Scope == apiextensionsv1.NamespaceScoped,
	}
	for _, v := range spec.Versions {
		switch {
		case v.Storage && v.Served:
			k.version, k.note = v.Name, ""
		case v.Storage:
			k.note = fmt.Sprintf("%s is stored but not served", v.Name)
		case v.Served && k.version == "":
			k.version = v.Name
		}
	}
	if k.version == "" {
		return k, fmt.Errorf("%s: not read: no version of it is served", crd.Name)
	}
	err := resource.CheckNames(crd.Name, k.version)
	if bad := validation.IsDNS1035Label(k.plural); err == nil && (len(bad) > 0 || crd.Name != k.plural+"."+k.group) {
		err = fmt.Errorf("%q: not the name of a CRD: want %s.%s", crd.Name, k.plural, k.group)
	}
	return k, err
}

// String returns the resource name and version, and the note, if any.
func (k Kind) String() string {
	if k.note != "" {
		return fmt.Sprintf("%s %s (%s)", k.Resource, k.version, k.note)
	}
	return k.Resource + " " + k.version
}

// path returns the URL path of the list of objects.
func (k Kind) path(namespace string) []string {
	path := []string{"apis", k.group, k.version}
	if k.namespaced && namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return append(path, k.plural)
}

// Kinds returns the kinds of crds whose objects can be in the namespace that is read, and the errors
// of CRDs without a usable kind.
func (c *Client) Kinds(crds []*apiextensionsv1.CustomResourceDefinition) (kinds []Kind, problems []error) {
	for _, crd := range crds {
		k, err := KindOf(crd)
		if err != nil {
			problems = append(problems, err)
		} else if k.namespaced || c.namespace == "" || c.implied {
			kinds = append(kinds, k)
		}
	}
	return kinds, problems
}

// A Source yields chunks until yield returns false. It calls wait before each request to the server.
type Source = func(wait func(), yield func(input.Chunk) bool)

var errEnough = errors.New("enough")

// Objects yields all objects of kinds. If a kind cannot be read completely, it yields a chunk whose
// document has an error.
func (c *Client) Objects(ctx context.Context, kinds []Kind) Source {
	return func(wait func(), yield func(input.Chunk) bool) {
		if c.implied {
			c.Warn(fmt.Errorf("--cluster: only the namespace %s is read: use -A for all namespaces, or -n NAMESPACE", c.namespace))
		}
		for _, k := range kinds {
			l := listing{client: c, path: k.path(c.namespace), bounds: objectBounds, each: func(_ string, raw []byte) error {
				return given(yield(input.Live(k.Resource, k.group+"/"+k.version, k.Kind, raw)))
			}}
			err := l.list(ctx, wait)
			if ctx.Err() != nil || errors.Is(err, errEnough) {
				return
			}
			if err != nil && !yield(input.Lost(k.Resource, notRead(err))) {
				return
			}
		}
	}
}

func given(more bool) error {
	if more {
		return nil
	}
	return errEnough
}

const crdKinds = "customresourcedefinitions.apiextensions.k8s.io"

// CRDs returns a source of the CRDs for which wanted returns true, or all CRDs if wanted is nil.
// CRDs whose name is unknown are included. After the source was read, failed returns the error that
// ended it early, or nil.
func (c *Client) CRDs(ctx context.Context, wanted func(name string) bool) (all Source, failed func() error) {
	var err error
	all = func(wait func(), yield func(input.Chunk) bool) {
		err = c.crds(ctx, wait, func(name string, raw []byte) error {
			if wanted != nil && name != "" && !wanted(name) {
				return nil
			}
			return given(yield(input.Live(crdKinds, resource.APIVersion, resource.Kind, raw)))
		})
		if errors.Is(err, errEnough) {
			err = nil
		}
	}
	return all, func() error { return err }
}

func (c *Client) crds(ctx context.Context, wait func(), each func(name string, raw []byte) error) error {
	all := *c
	all.selector = "" // the selector applies to objects
	l := listing{client: &all, path: []string{"apis", "apiextensions.k8s.io", "v1", "customresourcedefinitions"}, bounds: crdBounds, each: each}
	err := l.list(ctx, wait)
	if err == nil || ctx.Err() != nil || errors.Is(err, errEnough) {
		return err
	}
	return fmt.Errorf("--cluster: the CustomResourceDefinitions of %s: %w", c, notRead(err))
}

// notRead adds the reason to an error of the server.
func notRead(err error) error {
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("not read, because of missing permission to list it: %w", err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("not read: the server does not accept the kubeconfig's user: %w", err)
	}
	return fmt.Errorf("not read: %w", err)
}

// Names returns a list of the first limit kinds for messages.
func Names(kinds []Kind, limit int) string {
	var text []byte
	for i, k := range kinds {
		if i > 0 {
			text = append(text, ", "...)
		}
		if i == limit {
			return fmt.Sprintf("%sand %d more", text, len(kinds)-limit)
		}
		text = append(text, k.String()...)
	}
	return string(text)
}
