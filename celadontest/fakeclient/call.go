package fakeclient

import (
	"errors"
	"fmt"
	"path"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/rest"
)

// A call is a client's request to the server, with the warnings for its response.
type call struct {
	kind            *kind
	at              endpoint
	namespace, name string
	manager         string
	fieldValidation string
	dryRun          bool
	sent            string   // the resourceVersion that a new object was sent with
	warnings        []string // not yet sent
	deprecation     string   // the deprecation warning already sent, or ""
}

// newCall returns a call after the checks that clients and servers make on the URL. It sends the
// warning of a deprecated version, which a server sends whatever the result of the call is.
func (s *server) newCall(k *kind, at endpoint, namespace, name string, verb string) (*call, error) {
	c, err := s.path(k, at, namespace, name, verb)
	if err != nil {
		return nil, err
	}
	if err := s.deprecated(c); err != nil {
		return nil, err
	}
	if !k.serves(at) {
		return nil, c.notFound()
	}
	return c, nil
}

// path returns a call for an existing or new object.
func (s *server) path(k *kind, at endpoint, namespace, name string, verb string) (*call, error) {
	switch {
	case !k.serves(endpoint{version: at.version}):
		return nil, noPath(k, name, verb)
	case !k.namespaced:
		namespace = ""
	case namespace == "" && verb == "create":
		return nil, errors.New("an empty namespace may not be set during creation")
	case namespace == "":
		return nil, errors.New("an empty namespace may not be set when a resource name is provided")
	}
	if name == "" && verb != "create" {
		return nil, errors.New("resource name may not be empty")
	}
	return &call{kind: k, at: at, namespace: namespace, name: name}, nil
}

// newCollection returns a call for all objects of a kind. Lists and watches can include all
// namespaces.
func (s *server) newCollection(k *kind, version, namespace, verb string) (*call, error) {
	if !k.serves(endpoint{version: version}) || k.namespaced && namespace == "" && verb == "deletecollection" {
		return nil, noPath(k, "", verb)
	}
	if !k.namespaced {
		namespace = ""
	}
	c := &call{kind: k, at: endpoint{version: version}, namespace: namespace}
	return c, s.deprecated(c)
}

// deprecated sends a warning if the version of the call is deprecated.
func (s *server) deprecated(c *call) error {
	e, err := s.engine(c.kind)
	if err != nil {
		return internal(err)
	}
	c.deprecation = e.Info().Deprecations[c.at.version]
	s.send(c.deprecation)
	return nil
}

// noPath returns the error for a URL that is not served.
func noPath(k *kind, name, verb string) error {
	return apierrors.NewGenericServerResponse(404, verb, k.resource, name, "the server could not find the requested resource", 0, true)
}

// options sets the options that all writes have.
func (c *call) options(s *server, manager, fieldValidation string, dryRun []string) *call {
	c.manager, c.fieldValidation, c.dryRun = manager, fieldValidation, len(dryRun) > 0
	if c.manager == "" {
		c.manager = userAgent(rest.DefaultKubernetesUserAgent())
	}
	if c.fieldValidation == "" {
		c.fieldValidation = s.config.FieldValidation
	}
	if c.fieldValidation == "" {
		c.fieldValidation = metav1.FieldValidationStrict
	}
	return c
}

func (c *call) notFound() error { return apierrors.NewNotFound(c.kind.resource, c.name) }

// key returns the key of the object in etcd, as it occurs in error messages. For dry runs it has no
// prefix.
func (c *call) key() string {
	root := "/registry"
	if c.dryRun {
		root = "/"
	}
	return path.Join(root, c.kind.resource.Group, c.kind.resource.Resource, c.namespace, c.name)
}

// preconditions checks that an update is of the same object, and based on its current
// resourceVersion.
func (c *call) preconditions(live, obj map[string]any) error {
	was, now := &unstructured.Unstructured{Object: live}, &unstructured.Unstructured{Object: obj}
	switch version := now.GetResourceVersion(); {
	case now.GetUID() != "" && now.GetUID() != was.GetUID():
		return apierrors.NewConflict(c.kind.resource, c.name, fmt.Errorf(
			"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s", c.key(), now.GetUID(), was.GetUID()))
	case version == "" || version == "0":
		return c.noVersion()
	case version != was.GetResourceVersion():
		return apierrors.NewConflict(c.kind.resource, c.name, errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	}
	return nil
}

// noVersion returns the error for an update without a resourceVersion.
func (c *call) noVersion() error {
	kind := schema.GroupKind{Group: c.kind.resource.Group, Kind: c.kind.resource.Resource}
	return apierrors.NewInvalid(kind, c.name, field.ErrorList{
		field.Invalid(field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update"),
	})
}
