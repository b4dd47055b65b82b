package fakeclient

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/apply"
)

const (
	suffixLength = 5
	maxBase      = 63 - suffixLength
	// tries limits the names that the server generates for an object.
	tries = 8
)

// create may modify obj.
func (c *call) create(obj map[string]any) (map[string]any, error) {
	u := &unstructured.Unstructured{Object: obj}
	base := u.GetGenerateName()
	if u.GetName() != "" {
		base = ""
	}
	for try := 1; ; try++ {
		if base != "" {
			u.SetName(base[:min(len(base), maxBase)] + rand.String(suffixLength))
		}
		c.name = u.GetName()
		created, err := c.write(engine.Request{Object: obj, FieldValidation: c.fieldValidation})
		if base == "" || try == tries || !apierrors.IsAlreadyExists(err) {
			return created, err
		}
	}
}

func (c *call) replace(obj map[string]any) (map[string]any, error) {
	live, err := c.get()
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	return c.write(engine.Request{Object: obj, OldObject: live, FieldValidation: c.fieldValidation})
}

func (c *call) write(req engine.Request) (map[string]any, error) {
	res, rejected := c.decide(req)
	if res == nil {
		return nil, rejected
	}
	return c.written(req, res, rejected)
}

// decide validates a write. The object in the result is as persisted, except for the fields that
// only a server sets. If the write is rejected, decide also returns the error of the server. If it is
// undecided, decide fails the test, and returns a server error without a result.
func (c *call) decide(req engine.Request) (*engine.Result, error) {
	res, err := c.server.crds.DecideKind(context.Background(), c.kind.group, c.request(req))
	if err == nil && res.Undecided != nil {
		err = res.Undecided
	}
	switch {
	case err == nil && res.Allowed:
		return res, nil
	case err == nil:
		return res, &apierrors.StatusError{ErrStatus: *res.Failure.DeepCopy()}
	}
	c.server.t.Errorf("fakeclient: %s %q: %v", c.kind.group.Kind, c.name, err)
	if errors.As(err, new(*engine.WorkLimitError)) {
		return nil, apierrors.NewTimeoutError(err.Error(), 0)
	}
	return nil, apierrors.NewInternalError(err)
}

func (c *call) request(req engine.Request) engine.Request {
	req.Namespace, req.Name = c.namespace, c.name
	if req.OldObject != nil {
		req.Subresource = c.subresource
	}
	return req
}

// written persists the result of a write if a server would. A server checks, in this order, whether it can decode
// the object, the preconditions of an update, the object, and the preconditions of a create. It sends the
// warnings of the steps that were reached.
func (c *call) written(req engine.Request, res *engine.Result, rejected error) (map[string]any, error) {
	if apierrors.IsBadRequest(rejected) {
		c.warn(res.Warnings...)
		return nil, rejected
	}
	received, err := c.engine.Receive(context.Background(), c.request(req))
	if err != nil {
		return nil, internal(err)
	}
	if owners, _, _ := unstructured.NestedSlice(req.Object, "metadata", "ownerReferences"); req.Patched && len(owners) > 0 {
		// A server removes duplicate owner references of a patched object only later.
		received.Object["metadata"].(map[string]any)["ownerReferences"] = owners
	}
	if err := c.preconditions(req); err != nil {
		c.warn(received.Warnings...)
		return nil, err
	}
	c.warn(res.Warnings...)
	if rejected != nil {
		return nil, rejected
	}
	if err := c.creatable(versionOf(req.Object)); err != nil {
		return nil, err
	}
	managed := apply.Managed(req.Object)
	if !req.Merged {
		if managed, err = c.managed(req.OldObject, received.Object); err != nil {
			return nil, internal(err)
		}
	}
	return c.finish(req, res, managed)
}

func (c *call) preconditions(req engine.Request) error {
	live, sent := &unstructured.Unstructured{Object: req.OldObject}, &unstructured.Unstructured{Object: req.Object}
	switch version, uid := sent.GetResourceVersion(), sent.GetUID(); {
	case req.OldObject == nil && c.verb == "update":
		return c.notFound()
	case req.OldObject == nil:
		return nil
	case uid != "" && uid != live.GetUID():
		root := "/registry"
		if c.dryRun {
			root = "/"
		}
		key := path.Join(root, c.kind.resource.Group, c.kind.resource.Resource, c.key())
		return apierrors.NewConflict(c.kind.resource, c.name, fmt.Errorf(
			"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: "+
				"Precondition failed: UID in precondition: %s, UID in object meta: %s", key, uid, live.GetUID()))
	case version == "" || version == "0":
		resource := schema.GroupKind{Group: c.kind.resource.Group, Kind: c.kind.resource.Resource}
		return apierrors.NewInvalid(resource, c.name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update"),
		})
	case version != live.GetResourceVersion():
		return apierrors.NewConflict(c.kind.resource, c.name,
			errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	}
	return nil
}

func (c *call) creatable(sent string) error {
	stored := c.stored()
	switch {
	case c.verb == "create" && sent != "" && sent != "0" && !c.dryRun:
		return internal(errors.New("resourceVersion should not be set on objects to be created"))
	case c.verb != "create" || stored == nil:
		return nil
	}
	err := apierrors.NewAlreadyExists(c.kind.resource, c.name)
	if (&unstructured.Unstructured{Object: stored}).GetDeletionTimestamp() != nil {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}

// managed returns the managedFields after a write other than apply.
func (c *call) managed(live, obj map[string]any) ([]any, error) {
	m, err := c.kind.managers.Manager(c.version, c.subresource)
	if err != nil {
		return nil, err
	}
	from := &unstructured.Unstructured{}
	from.SetGroupVersionKind(c.kind.group.WithVersion(c.version))
	if live != nil {
		from.Object = runtime.DeepCopyJSON(live)
	}
	to := m.UpdateNoErrors(from, &unstructured.Unstructured{Object: runtime.DeepCopyJSON(obj)}, c.manager)
	return apply.Managed(to.(*unstructured.Unstructured).Object), nil
}

// finish sets the fields that only a server sets, and persists the result if it differs from the stored object.
func (c *call) finish(req engine.Request, res *engine.Result, managed []any) (map[string]any, error) {
	live := req.OldObject
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(res.Stored)}
	if live == nil {
		u.SetUID(uuid.NewUUID())
		u.SetCreationTimestamp(metav1.Now())
	} else {
		u.SetResourceVersion(versionOf(live))
	}
	metadata := u.Object["metadata"].(map[string]any)
	delete(metadata, "managedFields")
	if len(managed) > 0 {
		metadata["managedFields"] = managed
	}
	switch {
	case live != nil && same(u.Object, c.stored()):
		return live, nil
	case live != nil && u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0:
		if !c.dryRun {
			c.persist(nil)
		}
		// The object is gone, so a server returns the object that was to be written.
		p, err := c.engine.Prepare(c.request(req))
		if err != nil {
			return nil, internal(err)
		}
		written := maps.Clone(p.Self)
		written["metadata"] = metadata
		return written, nil
	case !c.dryRun:
		c.persist(u.Object)
	case live == nil:
		u.SetResourceVersion(versionOf(req.Object))
	}
	return c.read(u.Object)
}

func versionOf(obj map[string]any) string {
	return (&unstructured.Unstructured{Object: obj}).GetResourceVersion()
}

// same ignores the times in managedFields.
func same(a, b map[string]any) bool { return reflect.DeepEqual(withoutTimes(a), withoutTimes(b)) }

func withoutTimes(obj map[string]any) map[string]any {
	obj = runtime.DeepCopyJSON(obj)
	for _, entry := range apply.Managed(obj) {
		if entry, ok := entry.(map[string]any); ok {
			delete(entry, "time")
		}
	}
	return obj
}
