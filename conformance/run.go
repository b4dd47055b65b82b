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

// trial is one case on the server, and the very request that was made there,
// for the engine to decide.
type trial struct {
	answer  Answer
	request engine.Request
	// seeded is true when the old object went into etcd directly, because
	// today's schema refuses it.
	seeded bool
}

// patience is how often a request is made at most.
const patience = 3

// errOldRefused is an old object that the server cannot store at all.
var errOldRefused = errors.New("the server does not store the old object")

// try writes a case's object, and first its old one, to the server. namespace
// keeps cases apart; cluster-scoped objects of one name take turns.
func (r *Resource) try(ctx context.Context, c *Case, namespace string) (*trial, error) {
	if !r.namespaced() {
		namespace = ""
	}
	name := nameOf(c.Object)
	defer r.lock(namespace, name)()
	defer func() {
		// A context that ended must not leave the object to the next case.
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

// send makes the request that the case is about.
func (r *Resource) send(ctx context.Context, c *Case, t *trial, request call) (*trial, error) {
	if c.Namespace != "" {
		request.namespace = c.Namespace
		t.request.Namespace = c.Namespace
	}
	request.version, request.fieldValidation = c.Version, c.FieldValidation
	t.request.Subresource, t.request.FieldValidation = c.Subresource, c.FieldValidation
	response, err := r.patiently(ctx, request)
	if err != nil {
		return nil, err
	}
	if c.Subresource == "scale" {
		return r.scaled(ctx, t, request, response)
	}
	t.answer, err = parseResponse(response)
	return t, err
}

// patiently makes a request again when the server had no time for it: rules
// that reach the cost limit take long where many of them share few cores.
func (r *Resource) patiently(ctx context.Context, request call) (response *response, err error) {
	for range patience {
		response, err = r.do(ctx, request)
		if err != nil || response.code != http.StatusGatewayTimeout && response.code != http.StatusTooManyRequests {
			break
		}
	}
	return response, err
}

// store makes the old object be there and returns it as the server gives it
// back. Where today's schema refuses it, or the case says so, it is put past
// that schema.
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

// earlier is the manager of old objects. It differs from that of the writes that are tried, because times in managedFields
// are in seconds: whether a manager's second write changes its entry would depend on the clock.
const earlier = "earlier"

// storeByRequest creates the old object as a user would: with its status, if
// that is a subresource, in a second request. It says whether the server
// accepted all of it.
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
		return nil, fmt.Errorf("%w: %d: %s", errOldRefused, got.code, shorten(string(got.body), 300))
	}
	object, err := engine.Decode(got.body)
	if err != nil {
		return nil, err
	}
	// What was put into etcd has none, and this is the whole of it.
	setDefault(object, "managedFields", []any{})
	return object, nil
}

// inNamespace copies an object as deep as a run changes it, and puts it into a
// namespace; "" leaves its own.
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

// withoutVersion returns a copy of an object without metadata.resourceVersion.
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

// decide is the engine's answer to a request. A panic fails the one case.
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

// compile compiles a CRD for a run. Broken rules leave a usable engine, as
// they do on the server, so they are no error here.
func compile(crd *CRD) (e *engine.Engine, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if e, err = engine.Compile(crd.Definition, engine.Config{}); e != nil {
		return e, nil
	}
	return nil, err
}
