package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/celadon-cel/celadon/builtin"
	"github.com/celadon-cel/celadon/engine"
)

// builtinNamespace is the namespace of objects without a namespace. Without admission plugins, it need not exist.
const builtinNamespace = "celadon"

type builtinWrite struct {
	kind        *builtin.Resource
	title       string
	subresource string
	// raw is the body, and old is the stored object, as the server returns it. A deletion has no body.
	raw []byte
	old map[string]any
	// namespace and name are from the URL. A create has no name.
	namespace, name string
	cluster         *builtin.Cluster
	// assumed is set by decided if a plugin needs an object that cluster does not have.
	assumed bool
}

func (w *builtinWrite) String() string {
	verb := "create"
	switch {
	case w.raw == nil:
		verb = "delete"
	case w.old != nil:
		verb = "update"
	}
	return fmt.Sprintf("%s %s/%s %s: %s", verb, w.kind.GroupVersion(), w.kind.Name, w.subresource, w.title)
}

type decision struct {
	Allowed         bool
	Code            int32
	Reason, Message string
	Causes          []string
	Warnings        []string
	Object          map[string]any
}

func builtinPath(kind *builtin.Resource, namespace string) string {
	path := "/apis/" + kind.GroupVersion().String()
	if kind.Group == "" {
		path = "/api/" + kind.Version
	}
	if kind.Namespaced() {
		path += "/namespaces/" + url.PathEscape(namespace)
	}
	return path + "/" + kind.Name
}

func (w *builtinWrite) onServer(t *testing.T, p *plane) decision {
	t.Helper()
	method, path := http.MethodPost, builtinPath(w.kind, w.namespace)
	if w.name != "" {
		path += "/" + url.PathEscape(w.name)
	}
	if w.subresource != "" {
		path += "/" + w.subresource
	}
	switch {
	case w.raw == nil:
		method = http.MethodDelete
	case w.old != nil && w.subresource != "eviction" && w.subresource != "binding":
		method = http.MethodPut
	}
	query := "?fieldValidation=Strict&fieldManager=kubectl"
	if !w.isService() || w.raw == nil {
		query += "&dryRun=All" // which would neither allocate node ports nor check their range
	}
	code, text, header := p.exchange(t, method, path+query, w.raw)
	if w.isService() && code == http.StatusCreated {
		own := path + "/" + createdName(t, text)
		p.do(http.MethodPatch, own, `{"metadata":{"finalizers":null}}`)
		p.do(http.MethodDelete, own, "")
	}
	text = w.settled(text, code >= http.StatusBadRequest)
	text = bytes.ReplaceAll(text, []byte("Key: /registry/"), []byte("Key: /")) // which a dry run does not have
	d := decision{Allowed: code < 300}
	warnings, errs := net.ParseWarningHeaders(header.Values("Warning"))
	if len(errs) > 0 {
		t.Errorf("%v: warnings: %v", w, errs)
	}
	for _, warning := range warnings {
		d.Warnings = append(d.Warnings, warning.Text)
	}
	if !d.Allowed {
		var a answer
		if err := json.Unmarshal(text, &a.Body); err != nil {
			t.Fatalf("%v: %d %s", w, code, text)
		}
		d.Code, d.Reason, d.Message, d.Causes = int32(code), str(a.Body, "reason"), a.message(), a.causes()
	} else if w.raw != nil {
		object, err := engine.Decode(text)
		if err != nil {
			t.Fatalf("%v: %v", w, err)
		}
		d.Object = w.comparable(object)
	}
	return sorted(d)
}

func (w *builtinWrite) isService() bool { return w.kind.Kind == "Service" && w.kind.Group == "" }

func createdName(t *testing.T, text []byte) string {
	t.Helper()
	object, err := engine.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return str(object, "metadata", "name")
}

func (w *builtinWrite) decided(t *testing.T) (decision, error) {
	t.Helper()
	req := builtin.Request{
		Kind: w.kind.GroupVersionKind, Raw: w.raw, OldObject: w.old, Subresource: w.subresource,
		Namespace: w.namespace, Name: w.name, FieldValidation: "Strict",
		User:    &user.DefaultInfo{Name: "admin", UID: "admin", Groups: []string{"system:masters", user.AllAuthenticated}},
		Cluster: w.cluster, Assume: func(string) { w.assumed = true },
	}
	if w.raw != nil {
		req.Object, _ = engine.Decode(w.raw)
		if req.Object == nil {
			req.Object = map[string]any{} // no JSON object
		}
	}
	res, err := builtin.Validate(t.Context(), req)
	if err != nil {
		return decision{}, err
	}
	d := decision{Allowed: res.Allowed, Warnings: slices.Clone(res.Warnings), Object: w.comparable(res.Object)}
	if f := res.Failure; f != nil {
		d.Code, d.Reason, d.Message = f.Code, string(f.Reason), f.Message
	}
	for _, c := range res.Causes {
		d.Causes = append(d.Causes, fmt.Sprint(c.Reason, " ", c.Field, " ", c.Message))
	}
	return sorted(d), nil
}

// comparable returns a persisted object without the fields that differ between any two requests. Objects of
// subresources with a kind of their own are not compared.
func (w *builtinWrite) comparable(object map[string]any) map[string]any {
	if object["kind"] != w.kind.Kind {
		return nil
	}
	object = maps.Clone(object)
	meta, _ := object["metadata"].(map[string]any)
	meta = maps.Clone(meta)
	for _, name := range []string{"managedFields", "uid", "creationTimestamp", "resourceVersion", "selfLink"} {
		delete(meta, name)
	}
	object["metadata"] = meta
	if taint, ok := dig(object, "spec", "taint").(map[string]any); ok && !bytes.Contains(w.raw, []byte("timeAdded")) {
		delete(taint, "timeAdded")
	}
	if status, ok := object["status"].(map[string]any); ok && !bytes.Contains(w.raw, []byte("lastPhaseTransitionTime")) {
		delete(status, "lastPhaseTransitionTime")
	}
	if w.isService() {
		w.withoutAllocated(object)
	}
	return object
}

func (w *builtinWrite) withoutAllocated(service map[string]any) {
	sent, _ := engine.Decode(w.raw)
	given := func(field string) bool {
		return str(sent, "spec", field) != "" || str(w.old, "spec", field) != "" || dig(sent, "spec", "clusterIPs") != nil
	}
	spec, _ := dig(service, "spec").(map[string]any)
	spec = maps.Clone(spec)
	if !given("clusterIP") && spec["clusterIP"] != "None" {
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
	}
	delete(spec, "healthCheckNodePort")
	ports, _ := spec["ports"].([]any)
	for i, item := range ports {
		port, _ := item.(map[string]any)
		port = maps.Clone(port)
		delete(port, "nodePort")
		ports[i] = port
	}
	service["spec"] = spec
}

func sorted(d decision) decision {
	slices.Sort(d.Causes)
	d.Causes = slices.Compact(d.Causes)
	return d
}

var (
	someUUID   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	someVolume = regexp.MustCompile(`kube-api-access-[0-9a-z]{5}\b`)
	somePort   = regexp.MustCompile(`Duplicate value: 3[0-9]{4}\b`)
)

// settled replaces random values in a response of the server by the constants of builtin.Validate.
func (w *builtinWrite) settled(text []byte, failed bool) []byte {
	sent, _ := engine.Decode(w.raw)
	if prefix := str(sent, "metadata", "generateName"); prefix != "" && str(sent, "metadata", "name") == "" {
		random := regexp.MustCompile(regexp.QuoteMeta(prefix) + `[0-9a-z]{5}`)
		text = random.ReplaceAll(text, []byte(prefix+"00000"))
	}
	if w.kind.Kind == "Pod" && w.old == nil {
		text = someVolume.ReplaceAllFunc(text, func(name []byte) []byte {
			if bytes.Contains(w.raw, name) {
				return name
			}
			return []byte("kube-api-access-00000")
		})
	}
	replace := func(pattern *regexp.Regexp, by string) {
		text = pattern.ReplaceAllFunc(text, func(found []byte) []byte {
			if bytes.Contains(w.raw, found[max(0, len(found)-36):]) {
				return found
			}
			return []byte(by)
		})
	}
	if w.old == nil && (failed || w.kind.Kind == "Job" || w.kind.Kind == "LimitRange") {
		replace(someUUID, "00000000-0000-0000-0000-000000000000")
	}
	if failed && w.isService() {
		replace(somePort, "Duplicate value: 30000")
	}
	return text
}

func (p *plane) exchange(t *testing.T, method, path string, body []byte) (int, []byte, http.Header) {
	t.Helper()
	resp, err := p.send(method, path, string(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, text, resp.Header
}
