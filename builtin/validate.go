package builtin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime/debug"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"github.com/celadon-cel/celadon/engine"
	kube "github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/apply"
)

// A Request is one write of one object of a built-in kind.
type Request struct {
	// Kind is the kind of the resource. The zero value means the kind of Object, or of OldObject
	// for a deletion. Set it for subresources with a different kind, such as scale.
	Kind schema.GroupVersionKind
	// Object is the object in the form of engine.Decode, or nil for a deletion. Raw, if not nil, is its JSON, which
	// also shows duplicate keys.
	Object map[string]any
	Raw    []byte
	// OldObject is the object that the write replaces or deletes, or nil for a create.
	OldObject map[string]any
	// DuplicateKeys is the error of the YAML decoder about duplicate keys, or nil.
	DuplicateKeys error
	// Namespace and Name are from the request's URL. If one is empty, the object's is used; the
	// default namespace is "default".
	Namespace, Name string
	// Subresource is a subresource, such as status, or "".
	Subresource string
	// FieldValidation is "Strict", "Warn", or "Ignore". The default is "Warn", as in the server.
	FieldValidation string
	// KubeMinor, if not 0, is the minor version of Kubernetes whose fields the object can have.
	// Later fields are unknown. Everything else follows the linked release.
	KubeMinor int
	// NoObject permits that the result has no Object, which saves time.
	NoObject bool
	// Apply describes how Object is written; the zero value replaces OldObject. For subresources, it must be zero.
	Apply apply.Write
	// User makes the request. The default is an administrator.
	User user.Info
	// Cluster, if not nil, has the API server's admission plugins, which take part in the request before Admission.
	Cluster *Cluster
	// Assume, if not nil, is called with each object, such as "PriorityClass high", that a plugin needs but Cluster
	// does not have. The plugin is then skipped.
	Assume func(object string)
	// Admission, if not nil, takes part in the request.
	Admission Admission
}

// An UnknownKindError reports a kind that is not built in.
type UnknownKindError struct{ Kind schema.GroupVersionKind }

func (e *UnknownKindError) Error() string { return fmt.Sprintf("no built-in kind %s", e.Kind) }

// Validate validates a write as kube-apiserver does. A rejection is not an error: see Allowed,
// Causes, and Failure of the result. The result also has Warnings, Strict, and Object.
//
// The error is ctx.Err(), an *UnknownKindError, a *LimitError, an *engine.InternalError, or the
// reason why one of the objects cannot be used. Validate is safe for concurrent use and does not
// modify the objects of the request.
func Validate(ctx context.Context, req Request) (res *engine.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, &engine.InternalError{Reason: fmt.Sprint(p), Stack: debug.Stack()}
		}
	}()
	for _, object := range []map[string]any{req.Object, req.OldObject} {
		if err := checkLimits(object); err != nil {
			return nil, err
		}
	}
	if req.Kind.Empty() {
		req.Kind = kindOfObject(req.Object, req.OldObject)
	}
	resource := Lookup(req.Kind)
	if resource == nil {
		return nil, &UnknownKindError{req.Kind}
	}
	endpoints, err := resource.endpoints()
	if err != nil {
		return nil, &engine.InternalError{Reason: err.Error()}
	}
	end := endpoints[req.Subresource]
	if end == nil {
		return noEndpoint(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource"), nil
	}
	write, err := newWrite(ctx, resource, end, req)
	if err != nil {
		return nil, err
	}
	return write.run()
}

func noEndpoint(code int32, reason metav1.StatusReason, message string) *engine.Result {
	return &engine.Result{Failure: &metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}}
}

func kindOfObject(objects ...map[string]any) schema.GroupVersionKind {
	for _, o := range objects {
		if o != nil {
			apiVersion, _ := o["apiVersion"].(string)
			kind, _ := o["kind"].(string)
			return schema.FromAPIVersionAndKind(apiVersion, kind)
		}
	}
	return schema.GroupVersionKind{}
}

type write struct {
	Request
	ctx    context.Context
	kind   *Resource
	end    *endpoint
	info   *request.RequestInfo
	old    runtime.Object // nil for a create
	strict []error        // of the decoder
	newer  []string       // fields that servers of KubeMinor do not have
}

func newWrite(ctx context.Context, kind *Resource, end *endpoint, req Request) (*write, error) {
	w := &write{Request: req, kind: kind, end: end}
	if w.FieldValidation == "" {
		w.FieldValidation = metav1.FieldValidationWarn
	}
	if w.User == nil {
		w.User = &user.DefaultInfo{Name: "kubernetes-admin", Groups: []string{"kubeadm:cluster-admins", user.AllAuthenticated}}
	}
	w.info = &request.RequestInfo{
		IsResourceRequest: true, APIGroup: kind.Group, APIVersion: kind.Version, Resource: kind.Name,
		Subresource: w.Subresource, Namespace: w.namespace(), Name: w.name(),
	}
	var err error
	if w.old, err = w.decodeOld(); err != nil {
		return nil, err
	}
	ctx = request.WithRequestInfo(ctx, w.info)
	ctx = request.WithUser(ctx, w.User)
	ctx = request.WithNamespace(ctx, w.info.Namespace)
	w.ctx = context.WithValue(ctx, writeKey{}, w)
	return w, nil
}

func (w *write) namespace() string {
	switch {
	case w.kind.Kind == "Namespace" && w.kind.Group == "":
		return w.name()
	case !w.kind.Namespaced():
		return ""
	case w.Namespace != "":
		return w.Namespace
	}
	for _, o := range []map[string]any{w.Object, w.OldObject} {
		if ns, _ := metadata(o)["namespace"].(string); ns != "" {
			return ns
		}
	}
	return metav1.NamespaceDefault
}

func (w *write) name() string {
	if w.Name != "" {
		return w.Name
	}
	for _, o := range []map[string]any{w.OldObject, w.Object} {
		if name, _ := metadata(o)["name"].(string); name != "" {
			return name
		}
	}
	return ""
}

func metadata(object map[string]any) map[string]any {
	meta, _ := object["metadata"].(map[string]any)
	return meta
}

func (w *write) run() (*engine.Result, error) {
	body := w.Raw
	if w.KubeMinor > 0 && w.KubeMinor < kube.Newest && w.Object != nil {
		var without map[string]any
		if without, w.newer = withoutNewer(w.Object, w.kind.Type, w.KubeMinor); len(w.newer) > 0 {
			body, w.Object = nil, without
		}
	}
	if body == nil && w.Object != nil {
		var err error
		if body, err = json.Marshal(w.Object); err != nil {
			return nil, fmt.Errorf("object: %w", err)
		}
	}
	ctx, query, kind := w.ctx, url.Values{"fieldValidation": {w.FieldValidation}, "fieldManager": {"kubectl"}}, types.PatchType("")
	if w.applies() {
		var err error
		body, kind, err = w.patch(query)
		if patch := new(apply.PatchError); errors.As(err, &patch) {
			return apply.Unpatched(err), nil
		} else if err != nil {
			return nil, err
		}
		if body == nil {
			return w.unchanged()
		}
		ctx = audit.WithAuditContext(ctx)
	}
	handler, method, err := w.handler(kind)
	if err != nil {
		return nil, &engine.InternalError{Reason: err.Error()}
	}
	if handler == nil {
		const message = "the server does not allow this method on the requested resource"
		return noEndpoint(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, message), nil
	}
	r := (&http.Request{
		Method: method, URL: &url.URL{Path: "/", RawQuery: query.Encode()}, Body: io.NopCloser(bytes.NewReader(body)),
		Header: http.Header{"Content-Type": {cmp.Or(string(kind), "application/json")}, "Accept": {"application/json"}},
	}).WithContext(ctx)
	response := &response{header: http.Header{}}
	filters.WithWarningRecorder(w.warning(handler)).ServeHTTP(response, r)
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	res, err := w.result(body, response)
	if err == nil && res.Object != nil {
		w.migrate(res, response)
	}
	return res, err
}

func (w *write) warning(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(response http.ResponseWriter, r *http.Request) {
		for _, text := range w.end.warnings {
			warning.AddWarning(r.Context(), "", text)
		}
		handler.ServeHTTP(response, r)
	})
}

// handler returns a nil handler if the endpoint does not support the method. kind is the type of a patch, or "".
func (w *write) handler(kind types.PatchType) (http.Handler, string, error) {
	scope := w.end.scope
	scope.Serializer = &decoders{scope.Serializer, w}
	admit, storage := &admitter{w}, w.end.storage
	if w.Object == nil && w.Raw == nil {
		w.info.Verb = "delete"
		if r, ok := storage.(rest.GracefulDeleter); ok {
			return handlers.DeleteResource(r, true, &scope, admit), http.MethodDelete, nil
		}
		return nil, "", nil
	}
	if kind != "" {
		w.info.Verb = "patch"
		r, ok := storage.(rest.Patcher)
		if !ok {
			return nil, "", nil
		}
		if kind == types.ApplyYAMLPatchType {
			var err error
			if scope.FieldManager, err = w.end.fieldManager(); err != nil {
				return nil, "", err
			}
		}
		return handlers.PatchResource(r, &scope, admit, []string{string(kind)}), http.MethodPatch, nil
	}
	w.info.Verb = "create"
	updater, updates := storage.(rest.Updater)
	if w.OldObject == nil || !updates {
		switch r := storage.(type) {
		case rest.NamedCreater:
			return handlers.CreateNamedResource(r, &scope, admit), http.MethodPost, nil
		case rest.Creater:
			return handlers.CreateResource(r, &scope, admit), http.MethodPost, nil
		}
	}
	if !updates {
		return nil, "", nil
	}
	w.info.Verb = "update"
	return handlers.UpdateResource(updater, &scope, admit), http.MethodPut, nil
}

type response struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (r *response) Header() http.Header { return r.header }

func (r *response) WriteHeader(code int) {
	if r.code == 0 {
		r.code = code
	}
}

func (r *response) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

func (r *response) warnings() (texts []string) {
	headers, _ := utilnet.ParseWarningHeaders(r.header["Warning"])
	for _, h := range headers {
		texts = append(texts, h.Text)
	}
	return texts
}
