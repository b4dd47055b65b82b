package fakeclient

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"

	"github.com/celadon-cel/celadon/celadontest"
	"github.com/celadon-cel/celadon/engine"
)

// server writes objects as an API server does, one after another.
type server struct {
	t      testing.TB
	crds   *celadontest.CRDs
	config Config
	scheme *runtime.Scheme
	store  *store
	kinds  sync.Map // of *kind by schema.GroupKind

	mu      sync.Mutex // held by writes
	version uint64     // the resourceVersion given last
}

// kind is nil where no CRD is of it.
func (s *server) kind(gk schema.GroupKind) *kind {
	if k, ok := s.kinds.Load(gk); ok {
		return k.(*kind)
	}
	crd := s.crds.Definition(gk)
	if crd == nil {
		return nil
	}
	k, _ := s.kinds.LoadOrStore(gk, newKind(crd))
	return k.(*kind)
}

// kindOf finds the kind of a resource, by its name or by what clients guess it is
// called.
func (s *server) kindOf(gvr schema.GroupVersionResource) *kind {
	for _, crd := range s.crds.Definitions() {
		if crd.Spec.Group != gvr.Group {
			continue
		}
		k := s.kind(schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind})
		guessed, _ := meta.UnsafeGuessKindToResource(k.group.WithVersion(gvr.Version))
		if gvr.Resource == k.resource.Resource || gvr == guessed {
			return k
		}
	}
	return nil
}

// call is one request.
type call struct {
	kind            *kind
	at              endpoint
	namespace, name string
	manager         string
	fieldValidation string
	dryRun          bool
	sent            string // the resourceVersion that a new object was sent with
}

// newCall checks what a client and its URL would.
func (s *server) newCall(k *kind, at endpoint, namespace, name string, verb string) (*call, error) {
	switch {
	case !k.serves(endpoint{version: at.version}):
		return nil, apierrors.NewGenericServerResponse(404, verb, k.resource, name, "the server could not find the requested resource", 0, true)
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
	c := &call{kind: k, at: at, namespace: namespace, name: name}
	if !k.serves(at) {
		return nil, c.notFound()
	}
	return c, nil
}

// options are those that all writes have.
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

// decide is what the engine says of a write: the object as it is persisted, but for
// what only a server fills in, or the server's error.
func (s *server) decide(c *call, obj, live map[string]any, fieldValidation string) (*engine.Result, error) {
	return s.ask(c, engine.Request{Object: obj, OldObject: live, FieldValidation: fieldValidation})
}

func (s *server) ask(c *call, req engine.Request) (*engine.Result, error) {
	req.Namespace, req.Name, req.Subresource = c.namespace, c.name, c.at.subresource
	res, err := s.crds.Decide(context.Background(), req)
	if err == nil && res.Undecided != nil {
		err = res.Undecided
	}
	var limit *engine.WorkLimitError
	switch {
	case errors.As(err, &limit):
		s.t.Errorf("fakeclient: %s %q: %v", c.kind.group.Kind, c.name, err)
		return nil, apierrors.NewTimeoutError(err.Error(), 0)
	case err != nil:
		s.t.Errorf("fakeclient: %s %q: %v", c.kind.group.Kind, c.name, err)
		return nil, apierrors.NewInternalError(err)
	}
	return res, nil
}

// refusal is the error of a result; nil where it is allowed.
func refusal(res *engine.Result) error {
	if res.Allowed {
		return nil
	}
	return &apierrors.StatusError{ErrStatus: *res.Failure.DeepCopy()}
}

// warn passes on what a server says in headers.
func (s *server) warn(texts []string) {
	if s.config.Warnings == nil {
		return
	}
	for _, text := range texts {
		s.config.Warnings.HandleWarningHeader(299, "-", text)
	}
}

// early are the warnings of a write that does not come as far as its checks.
func early(texts []string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return strings.HasPrefix(text, "metadata.finalizers: ") })
}

// ofPatch are the warnings of a patch, whose duplicate owner references a server finds
// late.
func ofPatch(texts []string) []string {
	late := slices.Clone(texts)
	for i := range late {
		late[i] = strings.Replace(late[i], "contains duplicate entries;", "contains duplicate entries after mutating admission happens;", 1)
	}
	return late
}

// next is the resourceVersion of the next write.
func (s *server) next() string {
	s.version++
	return strconv.FormatUint(s.version, 10)
}

// read is an object in a version. It may share memory with the one given.
func (s *server) read(k *kind, version string, obj map[string]any) (map[string]any, error) {
	want := k.group.WithVersion(version).GroupVersion().String()
	if obj["apiVersion"] == want {
		return obj, nil
	}
	asked := maps.Clone(obj)
	asked["apiVersion"] = want
	seen, err := s.crds.Prepare(engine.Request{Object: asked, OldObject: obj})
	if err != nil {
		return nil, err
	}
	return seen.Old(), nil
}

// live is the object that a call is about, in its version; nil where there is none.
func (s *server) live(c *call) (map[string]any, error) {
	obj := s.store.get(c.kind, c.namespace, c.name)
	if obj == nil {
		return nil, nil
	}
	return s.read(c.kind, c.at.version, obj)
}

func (c *call) notFound() error { return apierrors.NewNotFound(c.kind.resource, c.name) }

// key is where etcd has the object; a dry run does not come that far.
func (c *call) key() string {
	root := "/registry"
	if c.dryRun {
		root = "/"
	}
	return path.Join(root, c.kind.resource.Group, c.kind.resource.Resource, c.namespace, c.name)
}

// finish fills in what only a server does, and persists: live is nil on create.
// What changes nothing is not written.
func (s *server) finish(c *call, live, obj map[string]any, managed []any) (map[string]any, error) {
	obj = runtime.DeepCopyJSON(obj)
	u := &unstructured.Unstructured{Object: obj}
	metadata := obj["metadata"].(map[string]any)
	if live == nil {
		metadata["uid"] = string(uuid.NewUUID())
		metadata["creationTimestamp"] = metav1.Now().UTC().Format(timeFormat)
	} else {
		was := (&unstructured.Unstructured{Object: live})
		u.SetResourceVersion(was.GetResourceVersion())
	}
	delete(metadata, "managedFields")
	if len(managed) > 0 {
		metadata["managedFields"] = managed
	}
	switch {
	case live != nil && same(obj, live):
		return live, nil
	case live != nil && u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0:
		if c.dryRun {
			return obj, nil
		}
		return obj, s.store.delete(c.kind, c.namespace, u.GetName())
	case c.dryRun:
		if live == nil && c.sent != "" {
			u.SetResourceVersion(c.sent)
		}
		return obj, nil
	}
	metadata["resourceVersion"] = s.next()
	return obj, s.store.put(c.kind, runtime.DeepCopyJSON(obj), live != nil)
}

// timeFormat is that of metav1.Time.
const timeFormat = "2006-01-02T15:04:05Z"

// same compares objects but for the times in managedFields.
func same(a, b map[string]any) bool {
	return reflect.DeepEqual(timeless(a), timeless(b))
}

func timeless(obj map[string]any) map[string]any {
	u := (&unstructured.Unstructured{Object: obj}).DeepCopy()
	metadata, _ := u.Object["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for _, entry := range entries {
		if entry, ok := entry.(map[string]any); ok {
			delete(entry, "time")
		}
	}
	return u.Object
}

// update gives an object the managedFields that a write other than apply makes.
func (c *call) update(live, obj map[string]any) ([]any, error) {
	m, err := c.kind.manager(c.at)
	if err != nil {
		return nil, err
	}
	from := &unstructured.Unstructured{}
	from.SetGroupVersionKind(c.kind.group.WithVersion(c.at.version))
	if live != nil {
		from.Object = runtime.DeepCopyJSON(live)
	}
	to := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(obj)}
	return managedFields(m.UpdateNoErrors(from, to, c.manager)), nil
}

func managedFields(obj runtime.Object) []any {
	metadata, _ := obj.(*unstructured.Unstructured).Object["metadata"].(map[string]any)
	fields, _ := metadata["managedFields"].([]any)
	return fields
}

// uidOf is an object's; "" where it has none.
func uidOf(obj map[string]any) types.UID {
	return (&unstructured.Unstructured{Object: obj}).GetUID()
}

// internal is what a server answers to an error that has no status.
func internal(err error) error {
	var status apierrors.APIStatus
	if err == nil || errors.As(err, &status) {
		return err
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: 500, Reason: metav1.StatusReasonUnknown, Message: err.Error(),
	}}
}

// preconditions are those of an update: of the same object, as it was read.
func (c *call) preconditions(live, obj map[string]any) error {
	was, now := &unstructured.Unstructured{Object: live}, &unstructured.Unstructured{Object: obj}
	switch version := now.GetResourceVersion(); {
	case now.GetUID() != "" && now.GetUID() != was.GetUID():
		return apierrors.NewConflict(c.kind.resource, c.name, fmt.Errorf(
			"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s", c.key(), now.GetUID(), was.GetUID()))
	case version == "" || version == "0":
		return invalidVersion(c)
	case version != was.GetResourceVersion():
		return apierrors.NewConflict(c.kind.resource, c.name, errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	}
	return nil
}
