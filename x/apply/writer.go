package apply

import (
	"cmp"
	"context"
	"maps"
	"net/http"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
)

// A Writer makes the requests of tools that write custom resources of a CRD. It is safe for concurrent use.
type Writer struct {
	*Managers
	engine *engine.Engine
}

// NewWriter returns the Writer of a CRD, which must not be modified. e is compiled from it.
func NewWriter(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine) *Writer {
	return &Writer{NewManagers(crd), e}
}

// A Request is the request of a tool, as the server completes it before it validates the object.
type Request struct {
	engine.Request
	// Result is set if the write ends before that: the tool sends nothing, for example because nothing
	// would change or because it cannot compute a patch, or the server rejects the request, for
	// example with 409 for a conflict.
	Result *engine.Result
	// patched returns the JSON of the object if a patch is sent.
	patched func() ([]byte, error)
	// applied is the object that server-side apply sends, and how is the write.
	applied map[string]any
	how     Write
}

// Validate returns the result of writing req.Object as a tool does: as an update of req.OldObject, or as a create if
// that is nil.
func (w *Writer) Validate(ctx context.Context, req engine.Request, how Write) (*engine.Result, error) {
	sent, err := w.Request(ctx, req, how)
	if err != nil || sent.Result != nil {
		return sent.Result, err
	}
	res, err := w.engine.Validate(ctx, sent.Request)
	if err != nil {
		return nil, err
	}
	if status := sent.Rejection(res); status != nil {
		return Rejected(status), nil
	}
	return w.Migrate(ctx, &sent, res)
}

// Request returns the request that a tool sends to write req.Object, as the argument of engine.Engine.Validate. The
// error can be an *engine.WorkLimitError.
func (w *Writer) Request(ctx context.Context, req engine.Request, how Write) (sent Request, err error) {
	sent.Request = req
	if how.Kind == "" || how.Kind == Replace || req.Subresource != "" || how.Kind == None && req.OldObject == nil {
		return sent, nil
	}
	object := req.Object
	if object == nil {
		if object, err = engine.Decode(req.Raw); err != nil {
			return sent, nil // the server rejects the request for the same reason
		}
	}
	object = w.inNamespace(object, req.Namespace)
	if req.OldObject == nil && how.Kind == Client {
		if sent.Object, err = Created(object); err != nil {
			sent.Result = Unpatched(err)
		}
		sent.Raw = nil
		return sent, nil
	}
	version := versionOf(object)
	var live map[string]any
	if req.OldObject != nil {
		if live, err = w.engine.Convert(ctx, req.OldObject, version); err != nil {
			return sent, nil // the server also fails to convert the object
		}
	}
	switch how.Kind {
	case Server:
		merged, status, err := w.Merge(live, object, version, "", how)
		if status != nil {
			sent.Result = Rejected(status)
		}
		sent.Object, sent.Raw, sent.Merged, sent.applied, sent.how = merged, nil, true, object, how
		return sent, err
	case Client:
		return clientSide(sent, live, object), nil
	}
	sent.Result = Unsent(live)
	return sent, nil
}

func versionOf(object map[string]any) string {
	apiVersion, _ := object["apiVersion"].(string)
	return schema.FromAPIVersionAndKind(apiVersion, "").Version
}

func clientSide(sent Request, live, object map[string]any) Request {
	applied, patched, err := Applied(live, object)
	switch {
	case err != nil:
		sent.Result = Unpatched(err)
	case applied == nil:
		sent.Result = Unsent(live)
	}
	sent.Object, sent.Raw, sent.Patched, sent.patched = applied, nil, true, patched
	return sent
}

// inNamespace returns an object as kubectl sends it: if it is namespaced, with its namespace, the given one, or
// default.
func (w *Writer) inNamespace(object map[string]any, namespace string) map[string]any {
	meta, ok := object["metadata"].(map[string]any)
	if own, _ := meta["namespace"].(string); !ok || own != "" || !w.engine.Info().Namespaced {
		return object
	}
	object, meta = maps.Clone(object), maps.Clone(meta)
	object["metadata"], meta["namespace"] = meta, cmp.Or(namespace, metav1.NamespaceDefault)
	return object
}

// Unsent returns the result of a write that the tool does not send.
func Unsent(live map[string]any) *engine.Result {
	meta, _ := live["metadata"].(map[string]any)
	live, meta = maps.Clone(live), maps.Clone(meta)
	delete(meta, "managedFields")
	live["metadata"] = meta
	return &engine.Result{Allowed: true, Object: live, Stored: live}
}

// Unpatched returns the result of a write whose patch kubectl cannot compute, so that it sends nothing.
func Unpatched(err error) *engine.Result {
	return Rejected(&metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusBadRequest, Reason: metav1.StatusReasonBadRequest, Message: err.Error(),
	})
}

// Rejected returns the result of a request that a server rejects with a status.
func Rejected(status *metav1.Status) *engine.Result {
	res := &engine.Result{Failure: status}
	if status.Details != nil {
		for _, c := range status.Details.Causes {
			res.Causes = append(res.Causes, engine.Cause{Reason: c.Type, Field: c.Field, Message: c.Message})
		}
	}
	return res
}

// Rejection returns the status that the server sends instead of res.Failure, or nil: if the server cannot decode a
// patched object, it sends another message than for an object that was not patched.
func (r *Request) Rejection(res *engine.Result) *metav1.Status {
	if r.patched == nil || res.Failure == nil || res.Failure.Code != http.StatusBadRequest || r.DuplicateKeys != nil {
		return nil
	}
	var why string
	switch {
	case res.Unread != nil:
		why = res.Unread.Error()
	case len(res.Strict) > 0:
		errs := make([]error, len(res.Strict))
		for i, e := range res.Strict {
			errs[i] = e
		}
		why = runtime.NewStrictDecodingError(errs).Error()
	default:
		return nil
	}
	data, err := r.patched()
	if err != nil {
		return nil
	}
	status := InvalidPatch(data, why)
	return &status
}
