package fakeclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/celadon-cel/celadon/engine"
)

type call struct {
	server          *server
	kind            *kind
	typed           bool // from a client that knows the scope of the kind
	verb            string
	version         string
	subresource     string
	namespace, name string

	// These are set by route.
	engine    *engine.Engine
	served    *apiextensionsv1.CustomResourceDefinitionVersion
	hasStatus bool

	manager         string
	fieldValidation string
	dryRun          bool
	warnings        []string
}

// A request handles a call and returns the object of the response, or nil.
type request func(c *call) (map[string]any, error)

// route makes the checks that a server makes on the URL. A server warns of a deprecated version
// even if it then rejects the call.
func (c *call) route() (err error) {
	if c.typed {
		if err := c.scope(); err != nil {
			return err
		}
	}
	k, several := c.kind, c.verb == "list" || c.verb == "watch"
	for i := range k.crd.Spec.Versions {
		if v := &k.crd.Spec.Versions[i]; v.Name == c.version && v.Served {
			c.served = v
		}
	}
	c.hasStatus = c.served != nil && c.served.Subresources != nil && c.served.Subresources.Status != nil
	isStatus := c.subresource == "status" && c.hasStatus
	switch {
	case c.name == "" && !several && c.verb != "create" && c.verb != "deletecollection":
		return errors.New("resource name may not be empty")
	case c.served == nil, k.namespaced != (c.namespace != "") && !(k.namespaced && several):
		const message = "the server could not find the requested resource"
		return apierrors.NewGenericServerResponse(404, c.verb, k.resource, c.name, message, 0, true)
	case isStatus && (c.verb == "create" || c.verb == "delete"):
		return apierrors.NewMethodNotSupported(k.resource, c.verb)
	}
	if c.engine, err = c.server.crds.Engine(k.group); c.engine == nil { // reads do not need valid rules
		return internal(err)
	}
	c.warn(c.engine.Info().Deprecations[c.version])
	if c.subresource != "" && !isStatus {
		return c.notFound()
	}
	return nil
}

// scope makes the checks on the namespace that a client makes if it knows the scope of the kind.
func (c *call) scope() error {
	switch {
	case !c.kind.namespaced:
		c.namespace = ""
	case c.namespace != "" || c.name == "" && c.verb != "create":
	case c.verb == "create":
		return errors.New("an empty namespace may not be set during creation")
	default:
		return errors.New("an empty namespace may not be set when a resource name is provided")
	}
	return nil
}

func (c *call) warn(texts ...string) {
	for _, text := range texts {
		if text != "" && !slices.Contains(c.warnings, text) {
			c.warnings = append(c.warnings, text)
		}
	}
}

func (c *call) notFound() error { return apierrors.NewNotFound(c.kind.resource, c.name) }

// The options of a create and of an update have the same fields, so o holds either.
func sending(
	kind string, obj runtime.Object, o metav1.CreateOptions, do func(*call, map[string]any) (map[string]any, error),
) request {
	return func(c *call) (map[string]any, error) {
		err := c.options(kind, validation.ValidateCreateOptions(&o), o.FieldManager, o.FieldValidation, o.DryRun)
		if err != nil {
			return nil, err
		}
		body, err := c.body(obj)
		if err != nil {
			return nil, err
		}
		return do(c, body)
	}
}

func creating(obj runtime.Object, o metav1.CreateOptions) request {
	return sending("CreateOptions", obj, o, (*call).create)
}

func replacing(obj runtime.Object, o metav1.UpdateOptions) request {
	return sending("UpdateOptions", obj, metav1.CreateOptions(o), (*call).replace)
}

func patching(obj client.Object, patch client.Patch, o metav1.PatchOptions) request {
	return func(c *call) (map[string]any, error) {
		data, err := patch.Data(obj)
		if err != nil {
			return nil, err
		}
		errs := validation.ValidatePatchOptions(&o, patch.Type())
		if err := c.options("PatchOptions", errs, o.FieldManager, o.FieldValidation, o.DryRun); err != nil {
			return nil, err
		}
		return c.patch(patch.Type(), data, o.Force != nil && *o.Force)
	}
}

func deleting(o metav1.DeleteOptions) request {
	return func(c *call) (map[string]any, error) {
		if err := c.options("DeleteOptions", validation.ValidateDeleteOptions(&o), "", "", o.DryRun); err != nil {
			return nil, err
		}
		return nil, c.delete(&o)
	}
}

// deletingAll deletes each object of a list separately, like the server.
func deletingAll(list metav1.ListOptions, o metav1.DeleteOptions) request {
	return func(c *call) (map[string]any, error) {
		found, err := c.list(list)
		if err != nil {
			return nil, err
		}
		for i := range found.Items {
			c.namespace, c.name = found.Items[i].GetNamespace(), found.Items[i].GetName()
			if _, err := deleting(o)(c); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
}

// The default manager is the name that a server derives from a client's user agent.
func (c *call) options(kind string, errs field.ErrorList, manager, fieldValidation string, dryRun []string) error {
	if len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
	}
	agent, _, _ := strings.Cut(rest.DefaultKubernetesUserAgent(), "/")
	c.manager, c.dryRun = cmp.Or(manager, agent), len(dryRun) > 0
	c.fieldValidation = cmp.Or(fieldValidation, c.server.config.FieldValidation, metav1.FieldValidationStrict)
	return nil
}

// body encodes obj as a client sends it, and checks its version as a server does.
func (c *call) body(obj runtime.Object) (map[string]any, error) {
	if _, partial := obj.(*metav1.PartialObjectMetadata); partial && c.verb != "seed" {
		return nil, fmt.Errorf("cannot %s using only metadata", c.verb)
	}
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	body, err := engine.Decode(data)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	want := c.kind.group.WithVersion(c.version)
	if _, untyped := obj.(runtime.Unstructured); !untyped {
		body["apiVersion"], body["kind"] = want.ToAPIVersionAndKind()
	}
	is := (&unstructured.Unstructured{Object: body}).GroupVersionKind()
	if is.Kind != "" && is.GroupVersion() != want.GroupVersion() {
		return nil, apierrors.NewBadRequest(fmt.Sprintf(
			"the API version in the data (%s) does not match the expected API version (%s)", is.GroupVersion(), want.GroupVersion()))
	}
	return body, nil
}

func (c *call) get() (map[string]any, error) {
	if c.stored() == nil {
		return nil, c.notFound()
	}
	return c.read(c.stored())
}

func (c *call) read(obj map[string]any) (map[string]any, error) {
	out, err := c.engine.Convert(context.Background(), runtime.DeepCopyJSON(obj), c.version)
	return out, internal(err)
}
