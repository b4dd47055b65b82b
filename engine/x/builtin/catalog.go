// Package builtin provides the schemas of Kubernetes' built-in kinds, such as Pod and Deployment, as
// structural schemas:
//
//	kinds, err := builtin.Newest()
//	props, err := kinds.Schema(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
//	props.XEmbeddedResource = true // validate apiVersion, kind, and metadata
//	s, err := engine.CompileSchema(props, engine.Config{})
//
// They describe the structure of an object, and the defaults that do not depend on other fields. Validation is Go
// code in the API server, which package builtin of Celadon's module builtin runs.
//
// The schemas come from the OpenAPI documents of one release of Kubernetes and are embedded in
// compressed form. Programs that do not import this package do not carry them.
package builtin

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

//go:embed schemas.json.gz
var compressed []byte

const maxFileSize = 4 << 20

// A Kind is a built-in kind.
type Kind struct {
	schema.GroupVersionKind
	// Resource is the plural name in URLs, or "" if the kind has no resource of its own, such as
	// PodList and PodExecOptions.
	Resource string
	// Namespaced reports whether the resource is namespaced.
	Namespaced bool
	// Subresources holds the resource's subresources.
	Subresources []Subresource
	// Defaulted reports whether the schema has the defaults of the API server. The schemas of other
	// kinds have only the defaults that OpenAPI declares. A default that depends on other fields, such
	// as the default of imagePullPolicy, is in no schema.
	Defaulted bool
}

// A Subresource is a subresource, such as status.
type Subresource struct {
	Name string
	// Kind is the kind of the objects that requests contain.
	// It is the kind of the resource for status, and, for example, PodExecOptions for exec.
	Kind schema.GroupVersionKind
}

// A Catalog holds the built-in kinds of one release of Kubernetes. It is immutable and safe for
// concurrent use.
type Catalog struct {
	release     string
	kinds       []Kind
	roots       map[schema.GroupVersionKind]fileKind
	definitions map[string]*definition
}

// Newest returns the catalog of the newest release. It is decoded by the first call.
func Newest() (*Catalog, error) { return newest() }

var newest = sync.OnceValues(func() (*Catalog, error) { return Parse(compressed) })

type file struct {
	Release string                 `json:"release"`
	Kinds   []fileKind             `json:"kinds"`
	Schemas map[string]*definition `json:"schemas"`
}

// A fileKind is a kind in a file. Defaults maps paths to defaults, and is nil if none were recorded.
type fileKind struct {
	Kind
	Schema       string            `json:"schema"`
	Subresources []fileSubresource `json:"subresources"`
	Defaults     defaults          `json:"defaults"`
}

type fileSubresource struct {
	Name string `json:"name"`
	schema.GroupVersionKind
}

// Parse decodes a catalog from a compressed file as conformance/kube/builtin writes it.
func Parse(data []byte) (*Catalog, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("built-in schemas: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("built-in schemas: %w", err)
	}
	if len(text) > maxFileSize {
		return nil, fmt.Errorf("built-in schemas: more than %d bytes", maxFileSize)
	}
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("built-in schemas: %w", err)
	}
	c := &Catalog{release: f.Release, definitions: f.Schemas, roots: make(map[schema.GroupVersionKind]fileKind, len(f.Kinds))}
	for _, k := range f.Kinds {
		kind := k.Kind
		kind.Defaulted = k.Defaults != nil
		for _, s := range k.Subresources {
			kind.Subresources = append(kind.Subresources, Subresource{s.Name, s.GroupVersionKind})
		}
		c.kinds = append(c.kinds, kind)
		c.roots[kind.GroupVersionKind] = k
	}
	return c, nil
}

// Release returns the release of Kubernetes, such as 1.37.1.
func (c *Catalog) Release() string { return c.release }

// Kinds returns all kinds, sorted by group, version, and kind.
func (c *Catalog) Kinds() []Kind {
	kinds := slices.Clone(c.kinds)
	for i := range kinds {
		kinds[i].Subresources = slices.Clone(kinds[i].Subresources)
	}
	return kinds
}

// Subresource returns the only subresource whose requests contain objects of a kind of its own, such as exec for
// PodExecOptions, with the kind of the resource. ok is false for other kinds.
func (c *Catalog) Subresource(gvk schema.GroupVersionKind) (of Kind, name string, ok bool) {
	for _, k := range c.kinds {
		for _, s := range k.Subresources {
			if s.Kind != gvk || gvk == k.GroupVersionKind {
				continue
			}
			if ok {
				return Kind{}, "", false // such as Scale
			}
			of, name, ok = k, s.Name, true
		}
	}
	return of, name, ok
}

// An UnknownKindError reports a kind that the catalog does not have.
type UnknownKindError struct {
	Kind    schema.GroupVersionKind
	Release string
}

func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("Kubernetes %s has no built-in kind %s", e.Release, e.Kind)
}

const objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// Metadata returns the schema of ObjectMeta, which is the metadata of all kinds but lists. The caller
// owns it.
func (c *Catalog) Metadata() (*apiextensionsv1.JSONSchemaProps, error) {
	e := &expander{definitions: c.definitions, open: map[string]bool{}}
	return e.expand(&definition{Ref: objectMeta}, "")
}

// Schema returns the structural schema of a kind. The caller owns it. It returns an *UnknownKindError
// for a kind that the catalog does not have.
//
// As in the schema of a CRD, metadata only has a type. See Metadata for its fields.
//
// A schema differs from the API server in these points. Quantities have x-kubernetes-int-or-string, so
// a quantity that is a JSON number with a fraction does not match, although servers accept it. A field
// that contains its own schema, as in JSONSchemaProps, has x-kubernetes-preserve-unknown-fields. Servers
// use list types to merge objects, but do not reject duplicate items. They encode some missing fields
// as zero values, which are no defaults here, because a required field could not be missing otherwise.
func (c *Catalog) Schema(gvk schema.GroupVersionKind) (*apiextensionsv1.JSONSchemaProps, error) {
	k, ok := c.roots[gvk]
	if !ok {
		return nil, &UnknownKindError{Kind: gvk, Release: c.release}
	}
	e := &expander{definitions: c.definitions, defaults: k.Defaults, open: map[string]bool{}}
	props, err := e.root(k.Schema)
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", gvk, err)
	}
	return props, nil
}
