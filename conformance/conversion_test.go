package conformance

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/engine"
)

const wrongCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.VERSION.wrong-conversion.test}
spec:
  group: VERSION.wrong-conversion.test
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v3, VERSION], clientConfig: {url: "https://127.0.0.1/"}}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {wrong: {type: string}, text: {type: string}, one: {type: string, default: one}}}}}}
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {wrong: {type: string}, text: {type: string}, two: {type: string, default: two}}}}}}
`

// obj is the correctly converted object. If wrongAnswer returns nil, it has already written the response
// to w.
type wrongAnswer func(w http.ResponseWriter, req *http.Request, r *reviewed, obj map[string]any) (answer any)

func meta(obj map[string]any) map[string]any { return obj["metadata"].(map[string]any) }

func object(change func(obj map[string]any)) wrongAnswer {
	return func(_ http.ResponseWriter, _ *http.Request, r *reviewed, obj map[string]any) any {
		change(obj)
		return r.fine(obj)
	}
}

func changed(change func(answer, response map[string]any)) wrongAnswer {
	return func(_ http.ResponseWriter, _ *http.Request, r *reviewed, obj map[string]any) any {
		answer := r.fine(obj)
		change(answer, answer["response"].(map[string]any))
		return answer
	}
}

func raw(code int, contentType, body string) wrongAnswer {
	return func(w http.ResponseWriter, _ *http.Request, _ *reviewed, _ map[string]any) any {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
		return nil
	}
}

const justJSON = "application/json"

var wrongAnswers = map[string]wrongAnswer{
	"right":       object(func(map[string]any) {}),
	"uid":         changed(func(_, r map[string]any) { r["uid"] = "other" }),
	"no uid":      changed(func(_, r map[string]any) { delete(r, "uid") }),
	"no response": changed(func(a, _ map[string]any) { delete(a, "response") }),
	"count none":  changed(func(_, r map[string]any) { r["convertedObjects"] = []any{} }),
	"count null":  changed(func(_, r map[string]any) { delete(r, "convertedObjects") }),
	"count two":   changed(func(_, r map[string]any) { o := r["convertedObjects"].([]any); r["convertedObjects"] = append(o, o[0]) }),
	"order": changed(func(_, r map[string]any) {
		r["convertedObjects"] = []any{map[string]any{"kind": "Other"}, r["convertedObjects"].([]any)[0]}
	}),
	"null object":        changed(func(_, r map[string]any) { r["convertedObjects"] = []any{nil} }),
	"text object":        changed(func(_, r map[string]any) { r["convertedObjects"] = []any{"text"} }),
	"failed":             changed(func(_, r map[string]any) { r["result"] = map[string]any{"status": "Failure", "message": "will not"} }),
	"failed silently":    changed(func(_, r map[string]any) { r["result"] = map[string]any{"status": "Failure"} }),
	"no result":          changed(func(_, r map[string]any) { delete(r, "result") }),
	"review kind":        changed(func(a, _ map[string]any) { a["kind"] = "AdmissionReview" }),
	"review group":       changed(func(a, _ map[string]any) { a["apiVersion"] = "admission.k8s.io/v1" }),
	"review v1":          changed(func(a, _ map[string]any) { a["apiVersion"] = "apiextensions.k8s.io/v1" }),
	"review v1beta1":     changed(func(a, _ map[string]any) { a["apiVersion"] = "apiextensions.k8s.io/v1beta1" }),
	"review no kind":     changed(func(a, _ map[string]any) { delete(a, "kind") }),
	"version":            object(func(o map[string]any) { o["apiVersion"] = path.Dir(o["apiVersion"].(string)) + "/v9" }),
	"group":              object(func(o map[string]any) { o["apiVersion"] = "other.test/v1" }),
	"no version":         object(func(o map[string]any) { delete(o, "apiVersion") }),
	"kind":               object(func(o map[string]any) { o["kind"] = "Other" }),
	"no kind":            object(func(o map[string]any) { clear(o); o["a"] = "b" }),
	"list kind":          object(func(o map[string]any) { o["kind"], o["items"] = "ThingList", []any{} }),
	"name":               object(func(o map[string]any) { meta(o)["name"] = "other" }),
	"namespace":          object(func(o map[string]any) { meta(o)["namespace"] = "other" }),
	"no namespace":       object(func(o map[string]any) { delete(meta(o), "namespace") }),
	"metadata uid":       object(func(o map[string]any) { meta(o)["uid"] = "other" }),
	"no metadata":        object(func(o map[string]any) { delete(o, "metadata") }),
	"labels text":        object(func(o map[string]any) { meta(o)["labels"] = "a" }),
	"labels null":        object(func(o map[string]any) { meta(o)["labels"] = nil }),
	"label number":       object(func(o map[string]any) { meta(o)["labels"] = map[string]any{"a": 1} }),
	"label invalid":      object(func(o map[string]any) { meta(o)["labels"] = map[string]any{"a": "not a label"} }),
	"label new":          object(func(o map[string]any) { meta(o)["labels"] = map[string]any{"a": "new"} }),
	"annotation invalid": object(func(o map[string]any) { meta(o)["annotations"] = map[string]any{"not an annotation": "x"} }),
	"annotations huge":   object(func(o map[string]any) { meta(o)["annotations"] = map[string]any{"a": strings.Repeat("x", 300<<10)} }),
	"other metadata": object(func(o map[string]any) {
		meta(o)["finalizers"], meta(o)["generation"], meta(o)["x"] = []any{"a/b"}, 77, "y"
	}),
	"number in a text": object(func(o map[string]any) { o["spec"].(map[string]any)["text"] = 1.5 }),
	"spec text":        object(func(o map[string]any) { o["spec"] = "text" }),
	"unknown fields":   object(func(o map[string]any) { o["unknown"], o["spec"].(map[string]any)["unknown"] = 1, 2 }),
	"bad JSON":         raw(200, justJSON, `{"kind": broken`),
	"text":             raw(200, "text/plain", "it works"),
	"array":            raw(200, justJSON, "[]"),
	"empty":            raw(200, justJSON, ""),
	"content type":     raw(200, "; =", "{}"),
	"a Status":         raw(200, justJSON, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "as a Status", "code": 418}`),
	"500":              raw(500, "text/plain", "it does not work"),
	"500 Status":       raw(500, justJSON, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "as a Status", "code": 500}`),
	"500 JSON":         raw(500, justJSON, `{"a": 1}`),
	"404":              raw(404, "text/plain", "404 page not found"),
	"403":              raw(403, "text/plain; charset=utf-8", strings.Repeat("not you ", 1000)),
	"301 nowhere":      raw(301, justJSON, ""),
	"204":              raw(204, justJSON, ""),
	"redirect": func(w http.ResponseWriter, req *http.Request, r *reviewed, obj map[string]any) any {
		if req.URL.Path == "/convert" {
			http.Redirect(w, req, "/there", http.StatusTemporaryRedirect)
			return nil
		}
		return r.fine(obj)
	},
	"redirect by GET": func(w http.ResponseWriter, req *http.Request, _ *reviewed, _ map[string]any) any {
		http.Redirect(w, req, "/there", http.StatusFound)
		return nil
	},
	"panic": func(http.ResponseWriter, *http.Request, *reviewed, map[string]any) any { panic(http.ErrAbortHandler) },
	"hangs": func(_ http.ResponseWriter, req *http.Request, _ *reviewed, _ map[string]any) any {
		<-req.Context().Done()
		return nil
	},
	"busy": func(w http.ResponseWriter, req *http.Request, r *reviewed, obj map[string]any) any {
		w.Header().Set("Retry-After", "0")
		return raw(429, "text/plain", "later")(w, req, r, obj)
	},
}

func TestWrongConversions(t *testing.T) {
	s := startServer(t)
	for _, version := range []string{"v1", "v1beta1"} {
		c := serveConverted(t, s, convertedCRD(t, strings.ReplaceAll(wrongCRD, "VERSION", version)), answering(t, answerWrongly))
		for name := range wrongAnswers {
			t.Run(version+"/"+name, func(t *testing.T) {
				t.Parallel()
				c.tryWrong(t, name)
			})
		}
	}
}

func answerWrongly(w http.ResponseWriter, req *http.Request, r *reviewed) {
	if len(r.Request.Objects) == 0 { // a redirect with GET
		http.Error(w, "no review", http.StatusBadRequest)
		return
	}
	obj := r.Request.Objects[0]
	obj["apiVersion"] = r.Request.DesiredAPIVersion
	if answer := wrongAnswers[obj["spec"].(map[string]any)["wrong"].(string)](w, req, r, obj); answer != nil {
		writeJSON(w, answer)
	}
}

var notName = regexp.MustCompile("[^a-z0-9]+")

func (c *converted) tryWrong(t *testing.T, wrong string) {
	name := notName.ReplaceAllString(strings.ToLower(wrong), "-")
	made := c.thing("v2", name, wrong)
	ours := c.validate(t, engine.Request{Object: made})
	got, err := c.do(t.Context(), call{method: http.MethodPost, version: "v2", namespace: "default", body: marshal(t, made)})
	if err != nil {
		t.Fatal(err)
	}
	c.same(t, got, <-ours, name)
	if wrong == "hangs" {
		return // waiting half a minute once is enough
	}

	old := c.thing("v1", name+"-old", wrong)
	if _, err := c.do(t.Context(), call{method: http.MethodPost, version: "v1", namespace: "default", body: marshal(t, old)}); err != nil {
		t.Fatal(err)
	}
	got, err = c.do(t.Context(), call{method: http.MethodGet, version: "v1", namespace: "default", name: name + "-old"})
	if err != nil {
		t.Fatal(err)
	}
	stored, err := engine.Decode(got.body)
	if err != nil {
		t.Fatal(err)
	}
	now := c.thing("v2", name+"-old", wrong)
	now["metadata"].(map[string]any)["resourceVersion"] = meta(stored)["resourceVersion"]
	got, err = c.do(t.Context(), call{method: http.MethodPut, version: "v2", namespace: "default", name: name + "-old", body: marshal(t, now)})
	if err != nil {
		t.Fatal(err)
	}
	c.same(t, got, <-c.validate(t, engine.Request{Object: now, OldObject: stored}), name+"-old")
}

type validated struct {
	res *engine.Result
	err error
}

func (c *converted) validate(t *testing.T, req engine.Request) <-chan validated {
	done := make(chan validated, 1)
	go func() {
		res, err := c.engine.Validate(t.Context(), req)
		done <- validated{res, err}
	}()
	return done
}

func (c *converted) thing(version, name, wrong string) map[string]any {
	return map[string]any{
		"apiVersion": c.crd.Spec.Group + "/" + version, "kind": "Thing",
		"metadata": map[string]any{"name": name, "namespace": "default"},
		"spec":     map[string]any{"wrong": wrong, "text": "x"},
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// revision matches the prefix of the server's message if a stored object cannot be converted.
var revision = regexp.MustCompile(`^object not decodable revision=[0-9]+: `)

// late matches the server's message for a timeout. It varies, because two timers of 30 seconds can
// end the request.
var late = regexp.MustCompile(`(\?timeout=30s": )(context deadline exceeded|net/http: request canceled)( \(Client\.Timeout exceeded while awaiting headers\))?$`)

var anyUID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

func (c *converted) same(t *testing.T, got *response, ours validated, name string) {
	t.Helper()
	var status struct{ Message string }
	if err := json.Unmarshal(got.body, &status); err != nil {
		t.Fatal(err)
	}
	res, err := ours.res, ours.err
	var unknown *engine.NotCheckedError
	text := ""
	switch {
	case errors.As(err, &unknown):
		text = unknown.Reason
	case err != nil:
		t.Fatal(err)
	case res.Failure != nil:
		text = res.Failure.Message
		if int(res.Failure.Code) != got.code {
			t.Errorf("code: got %d, server %d", res.Failure.Code, got.code)
		}
	}
	without := func(s string) string {
		s = anyUID.ReplaceAllString(strings.TrimPrefix(s, revision.FindString(s)), "")
		return late.ReplaceAllString(s, "${1}late")
	}
	if d := cmp.Diff(without(status.Message), without(text)); d != "" {
		t.Errorf("text (-server +ours):\n%s", d)
	}
	if (got.code < 300) != (text == "") {
		t.Errorf("the server answers %d %s, we say %q", got.code, got.body, text)
	}
	if err == nil && res.Allowed {
		c.sameStored(t, res, name)
	}
}

func (c *converted) sameStored(t *testing.T, res *engine.Result, name string) {
	t.Helper()
	kept, err := c.server.store.Get(t.Context(), c.key("default", name))
	if err != nil || len(kept.Kvs) != 1 {
		t.Fatal(err, len(kept.Kvs))
	}
	stored, err := engine.Decode(kept.Kvs[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	if want, got := string(unmanaged(t, stored)), string(unmanaged(t, res.Stored)); got != want {
		t.Errorf("%s is stored as\n%s\nours is\n%s", name, want, got)
	}
}

// unmanaged leaves out the metadata that only a server knows (TestServerMetadata).
func unmanaged(t *testing.T, obj map[string]any) []byte {
	t.Helper()
	obj = maps.Clone(obj)
	if m, ok := obj["metadata"].(map[string]any); ok {
		m = maps.Clone(m)
		for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
			delete(m, name)
		}
		obj["metadata"] = m
	}
	return marshal(t, obj)
}
