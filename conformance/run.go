package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"

	"github.com/celadon-cel/celadon/engine"
)

// trial is the server's response to a case, with the same request for the engine.
type trial struct {
	answer  Answer
	request engine.Request
	// seeded is set if the old object was written to etcd directly, because the current schema
	// rejects it, or because the case requests ratcheting.
	seeded bool
}

const maxAttempts = 3

var errOldRejected = errors.New("the server does not store the old object")

// Each case has its own namespace; cases with cluster-scoped objects of the same name are serialized.
func (r *Resource) try(ctx context.Context, c *Case, namespace string) (*trial, error) {
	if !r.namespaced() {
		namespace = ""
	}
	name := nameOf(c.Object)
	defer r.lock(namespace, name)()
	defer func() {
		// If ctx has ended, the object must still be removed before the next case.
		_ = r.forget(context.WithoutCancel(ctx), namespace, name)
	}()
	if c.Update() {
		return r.tryUpdate(ctx, c, namespace, name)
	}
	return r.tryCreate(ctx, c, namespace)
}

func (r *Resource) tryCreate(ctx context.Context, c *Case, namespace string) (*trial, error) {
	request := call{method: http.MethodPost, namespace: namespace, body: c.Raw}
	if c.Raw != nil {
		return r.send(ctx, c, &trial{request: engine.Request{Raw: c.Raw, Namespace: namespace}}, request)
	}
	object := inNamespace(c.Object, namespace)
	var err error
	if request.body, err = json.Marshal(object); err != nil {
		return nil, err
	}
	return r.send(ctx, c, &trial{request: engine.Request{Object: object}}, request)
}

func (r *Resource) tryUpdate(ctx context.Context, c *Case, namespace, name string) (*trial, error) {
	old, seeded, err := r.store(ctx, c, namespace, name)
	if err != nil {
		return nil, err
	}
	object := inNamespace(c.Object, namespace)
	setDefault(object, "resourceVersion", metadataOf(old)["resourceVersion"])
	t := &trial{request: engine.Request{Object: object, OldObject: old}, seeded: seeded}
	body, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if seeded {
		// The engine gets the old object as if from a file: the verdict does not depend on its resourceVersion.
		t.request.OldObject = withoutVersion(old)
	}
	return r.send(ctx, c, t, call{
		method: http.MethodPut, namespace: namespace, name: name, subresource: c.Subresource, body: body,
	})
}

func (r *Resource) send(ctx context.Context, c *Case, t *trial, request call) (*trial, error) {
	if c.Namespace != "" {
		request.namespace = c.Namespace
		t.request.Namespace = c.Namespace
	}
	request.version, request.fieldValidation = c.Version, c.FieldValidation
	t.request.Subresource, t.request.FieldValidation = c.Subresource, c.FieldValidation
	response, err := r.sendWithRetry(ctx, request)
	if err != nil {
		return nil, err
	}
	if c.Subresource == "scale" {
		return r.scaled(ctx, t, request, response)
	}
	t.answer, err = parseResponse(response)
	return t, err
}

// sendWithRetry repeats a request if the server timed out. Rules near the cost limit take long when
// many of them share few cores.
func (r *Resource) sendWithRetry(ctx context.Context, request call) (response *response, err error) {
	for range maxAttempts {
		response, err = r.do(ctx, request)
		if err != nil || response.code != http.StatusGatewayTimeout && response.code != http.StatusTooManyRequests {
			break
		}
	}
	return response, err
}

// If the server rejects the old object, or the case requests ratcheting, store writes it to etcd
// directly, and seeded is true.
func (r *Resource) store(ctx context.Context, c *Case, namespace, name string) (old map[string]any, seeded bool, err error) {
	object := inNamespace(c.OldObject, namespace)
	if !c.Ratcheting {
		stored, err := r.storeByRequest(ctx, c, object, namespace, name)
		if stored || err != nil {
			old, err = r.get(ctx, c.oldVersion(), namespace, name)
			return old, false, err
		}
		if err := r.forget(ctx, namespace, name); err != nil {
			return nil, false, err
		}
	}
	if err := r.put(ctx, namespace, name, object); err != nil {
		return nil, true, err
	}
	old, err = r.get(ctx, c.oldVersion(), namespace, name)
	return old, true, err
}

// earlier is the field manager of old objects. It differs from the manager of the writes under
// test, because times in managedFields have a resolution of seconds: whether a second write by the
// same manager changes its entry would depend on the clock.
const earlier = "earlier"

// If the version has a status subresource, storeByRequest sets the status in a second request.
func (r *Resource) storeByRequest(ctx context.Context, c *Case, object map[string]any, namespace, name string) (bool, error) {
	body, err := json.Marshal(object)
	if err != nil {
		return false, err
	}
	created, err := r.do(ctx, call{method: http.MethodPost, version: c.oldVersion(), namespace: namespace, body: body, fieldManager: earlier})
	if err != nil || created.code != http.StatusCreated {
		return false, err
	}
	if object["status"] == nil || !r.statusSubresource(c.oldVersion()) {
		return true, nil
	}
	answer, err := engine.Decode(created.body)
	if err != nil {
		return false, err
	}
	object = inNamespace(object, namespace)
	setDefault(object, "resourceVersion", metadataOf(answer)["resourceVersion"])
	if body, err = json.Marshal(object); err != nil {
		return false, err
	}
	updated, err := r.do(ctx, call{
		method: http.MethodPut, version: c.oldVersion(), namespace: namespace, name: name, subresource: "status", body: body, fieldManager: earlier,
	})
	return err == nil && updated.code == http.StatusOK, err
}

func (r *Resource) get(ctx context.Context, version, namespace, name string) (map[string]any, error) {
	got, err := r.do(ctx, call{method: http.MethodGet, version: version, namespace: namespace, name: name})
	if err != nil {
		return nil, err
	}
	if got.code != http.StatusOK {
		return nil, fmt.Errorf("%w: %d: %s", errOldRejected, got.code, shorten(string(got.body), 300))
	}
	object, err := engine.Decode(got.body)
	if err != nil {
		return nil, err
	}
	// Objects written to etcd directly have no managedFields. An empty list states that.
	setDefault(object, "managedFields", []any{})
	return object, nil
}

// inNamespace keeps the object's namespace if namespace is "". The copy shares all values except
// metadata with the original.
func inNamespace(object map[string]any, namespace string) map[string]any {
	out := maps.Clone(object)
	metadata := maps.Clone(metadataOf(object))
	if metadata == nil {
		metadata = map[string]any{}
	}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	out["metadata"] = metadata
	return out
}

func withoutVersion(object map[string]any) map[string]any {
	out := inNamespace(object, "")
	delete(metadataOf(out), "resourceVersion")
	return out
}

func setDefault(object map[string]any, key string, value any) {
	if metadata := metadataOf(object); metadata[key] == nil {
		metadata[key] = value
	}
}

func metadataOf(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	return metadata
}

func nameOf(object map[string]any) string {
	name, _ := metadataOf(object)["name"].(string)
	return name
}

// decide turns a panic into an error, so that only this case fails.
func decide(ctx context.Context, e *engine.Engine, request engine.Request) (a Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	result, err := e.Validate(ctx, request)
	if err != nil {
		return Answer{}, err
	}
	return resultAnswer(result, request.OldObject != nil), nil
}

// compile compiles a CRD for a Kubernetes version. Invalid rules are not an error: the engine remains
// usable, as the CRD does on the server.
func compile(crd *CRD, kubeVersion string) (e *engine.Engine, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if e, err = engine.Compile(crd.Definition, engine.Config{KubeVersion: kubeVersion}); e != nil {
		return e, nil
	}
	return nil, err
}
