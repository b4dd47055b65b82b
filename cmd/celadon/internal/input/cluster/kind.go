package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
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

// KindOf returns the kind that a CRD defines, in its storage version: to read another version, the server may have
// to call a conversion webhook. If the storage version is not served, KindOf uses the first served version. It
// returns an error if no version is served, or if a name is invalid.
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

func (k Kind) path(namespace string) []string {
	path := []string{"apis", k.group, k.version}
	if k.namespaced && namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return append(path, k.plural)
}

// Kinds returns the kinds of crds, without cluster-scoped kinds if the user named a namespace, and the errors of CRDs
// without a usable kind.
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
			l := listing{client: c, path: k.path(c.namespace), bounds: objectBounds, each: func(raw []byte) error {
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

// CRDs returns a source of the CRDs for which wanted returns true, or all CRDs if wanted is nil. CRDs whose name is
// unknown are included. After the source was read, failed returns the error that ended it early, or nil.
func (c *Client) CRDs(ctx context.Context, wanted func(name string) bool) (all Source, failed func() error) {
	var err error
	all = func(wait func(), yield func(input.Chunk) bool) {
		err = c.crds(ctx, wait, func(crd *heading, raw []byte) error {
			if name := crd.Metadata.Name; wanted != nil && name != "" && !wanted(name) {
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

func (c *Client) crds(ctx context.Context, wait func(), each func(crd *heading, raw []byte) error) error {
	all := *c
	all.selector = "" // the selector applies to objects
	l := listing{
		client: &all, path: []string{"apis", "apiextensions.k8s.io", "v1", "customresourcedefinitions"}, bounds: crdBounds,
		each: func(raw []byte) error {
			crd := &heading{}
			if json.Unmarshal(raw, crd) != nil {
				crd = &heading{}
			}
			return each(crd, raw)
		},
	}
	err := l.list(ctx, wait)
	if err == nil || ctx.Err() != nil || errors.Is(err, errEnough) {
		return err
	}
	return fmt.Errorf("--cluster: the CustomResourceDefinitions of %s: %w", c, notRead(err))
}

func notRead(err error) error {
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("not read, because of missing permission to list it: %w", err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("not read: the server does not accept the kubeconfig's user: %w", err)
	}
	return fmt.Errorf("not read: %w", err)
}

// Object reads the object KIND/NAME and its CRD. KIND is the kind, its plural, its singular, or a short name, with
// .GROUP if it is ambiguous. A namespaced object is read from --namespace, or else from the namespace of the context.
func (c *Client) Object(ctx context.Context, ref string) (crd, object input.Chunk, err error) {
	word, name, ok := strings.Cut(ref, "/")
	if !ok || word == "" || name == "" {
		return crd, object, fmt.Errorf("--object %q: with --cluster, want KIND/NAME", ref)
	}
	if bad := content.IsPathSegmentName(name); len(bad) > 0 {
		return crd, object, fmt.Errorf("--object %q: the name %s", ref, bad[0])
	}
	raw, err := c.defining(ctx, word)
	if err != nil {
		return crd, object, err
	}
	var def apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(raw, &def); err != nil {
		return crd, object, fmt.Errorf("%s: not a CustomResourceDefinition: %w", c, err)
	}
	k, err := KindOf(&def)
	if err != nil {
		return crd, object, err
	}
	namespace := c.namespace
	if namespace == "" {
		namespace = c.fallback
	}
	body, err := c.get(ctx, append(k.path(namespace), name), nil)
	if err != nil {
		return crd, object, fmt.Errorf("%s: %w", ref, err)
	}
	defer body.Close()
	sent, err := input.ReadAll(body, maxValue)
	if err != nil {
		return crd, object, fmt.Errorf("%s: %w", ref, err)
	}
	crd = input.Live(crdKinds, resource.APIVersion, resource.Kind, raw)
	return crd, input.Live(k.Resource, k.group+"/"+k.version, k.Kind, sent), nil
}

func (c *Client) defining(ctx context.Context, word string) (found []byte, err error) {
	var names []string
	err = c.crds(ctx, func() {}, func(crd *heading, raw []byte) error {
		if crd.means(word) {
			found = raw
			names = append(names, crd.Metadata.Name)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(names) == 0:
		return nil, fmt.Errorf("%s has no CustomResourceDefinition for %q", c, word)
	case len(names) > 1:
		return nil, fmt.Errorf("%q is of %s: choose one", word, strings.Join(names, " and of "))
	}
	return found, nil
}

type heading struct {
	Metadata struct{ Name string }
	Spec     struct {
		Group string
		Names apiextensionsv1.CustomResourceDefinitionNames
	}
}

func (h *heading) means(word string) bool {
	word, group, whole := strings.Cut(strings.ToLower(word), ".")
	names := &h.Spec.Names
	return (!whole || group == h.Spec.Group) &&
		(word == names.Plural || word == names.Singular || word == strings.ToLower(names.Kind) || slices.Contains(names.ShortNames, word))
}
