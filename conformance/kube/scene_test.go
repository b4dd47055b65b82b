package kube

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/testing/exchange"
)

// run installs the documents of a scene, sends its requests, and records the stored objects and the
// answers. Documents that the server rejects are returned and removed from the scene, as are requests
// that it rejects for a reason that is neither a policy nor a CRD.
func (s *stage) run(scene *exchange.Scene) (rejected map[string]string) {
	s.t.Helper()
	s.clear()
	s.storeOld(scene)
	s.mutates = scene.Mutates()
	rejected = s.install(scene)
	s.settle()
	if s.hooks != nil {
		s.settleHooks(scene)
	}
	s.mutates = scene.Mutates() // the server may have rejected the policies
	ids := make([]string, len(scene.Exchanges))
	for i := range scene.Exchanges {
		ids[i] = s.exchange(&scene.Exchanges[i])
	}
	s.audit(scene, ids)
	s.describe(scene)
	scene.Exchanges = slices.DeleteFunc(scene.Exchanges, func(e exchange.Exchange) bool { return e.Answer.Code == 0 })
	return rejected
}

func (s *stage) storeOld(scene *exchange.Scene) {
	s.t.Helper()
	for _, doc := range scene.Documents {
		if doc["kind"] == "Namespace" {
			s.namespace(doc)
		}
	}
	stored := map[string]bool{}
	for i := range scene.Exchanges {
		r := &scene.Exchanges[i].Request
		if r.Old == nil {
			continue
		}
		_, own := s.paths(r.Old)
		if stored[own] || s.stored[own] {
			continue
		}
		stored[own] = true
		if r.Old["kind"] == "Namespace" {
			s.namespace(r.Old)
			continue
		}
		if a := s.post(r.Old); a.Code != http.StatusCreated {
			s.t.Logf("%s: the old object %s is rejected: %d %s", scene.Name, own, a.Code, a.message())
			continue
		}
		if status := r.Old["status"]; status != nil {
			s.do(http.MethodPatch, own+"/status", encoded(exchange.Object{"status": status}))
		}
	}
}

// install creates the documents of a scene other than Namespaces, params first. It returns the errors of rejected
// documents.
func (s *stage) install(scene *exchange.Scene) map[string]string {
	s.t.Helper()
	rejected := map[string]string{}
	order := func(doc exchange.Object) int {
		return slices.Index([]string{"ValidatingAdmissionPolicy", "MutatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicyBinding"}, str(doc, "kind"))
	}
	slices.SortStableFunc(scene.Documents, func(a, b exchange.Object) int { return order(a) - order(b) })
	scene.Documents = slices.DeleteFunc(scene.Documents, func(doc exchange.Object) bool {
		if doc["kind"] == "Namespace" {
			return false
		}
		a := s.post(doc)
		if a.Code != http.StatusCreated {
			rejected[str(doc, "kind")+" "+str(doc, "metadata", "name")] = a.message()
			return true
		}
		s.remember(doc)
		return false
	})
	return rejected
}

// describe replaces the Namespaces and params of a scene by the stored objects, and adds the
// Namespaces of its requests and the objects that all scenes share.
func (s *stage) describe(scene *exchange.Scene) {
	s.t.Helper()
	namespaces := map[string]bool{}
	for i := range scene.Exchanges {
		namespaces[scene.Exchanges[i].Request.Namespace] = true
	}
	for i, doc := range scene.Documents {
		if doc["apiVersion"] == "admissionregistration.k8s.io/v1" {
			continue
		}
		delete(namespaces, str(doc, "metadata", "name"))
		_, own := s.paths(doc)
		scene.Documents[i] = s.get(own)
	}
	for _, name := range slices.Sorted(maps.Keys(namespaces)) {
		if doc := s.get("/api/v1/namespaces/" + name); name != "" && doc != nil {
			scene.Documents = append(scene.Documents, doc)
		}
	}
	scene.Documents = append(scene.Documents, s.setup...)
}

func (s *stage) get(path string) exchange.Object {
	s.t.Helper()
	code, text, err := s.try(http.MethodGet, path, "")
	if err != nil {
		s.t.Fatal(err)
	}
	if code != http.StatusOK {
		return nil
	}
	o, err := engine.Decode([]byte(text))
	if err != nil {
		s.t.Fatal(err)
	}
	return o
}

// exchange replaces the old object by the stored object, and sends the request. It returns the ID of the request in
// the audit log, or "" if the old object is not stored.
func (s *stage) exchange(e *exchange.Exchange) (id string) {
	s.t.Helper()
	r := &e.Request
	if !slices.Contains(r.User.Groups, "system:authenticated") {
		r.User.Groups = append(r.User.Groups, "system:authenticated")
	}
	if r.Old != nil {
		_, own := s.paths(r.Old)
		if r.Subresource == "scale" {
			own += "/scale"
		}
		if r.Old = s.get(own); r.Old == nil {
			return ""
		}
	}
	s.requests++
	id = fmt.Sprintf("celadon-%d", s.requests)
	a := s.ask(r, id)
	e.Answer = s.answer(r, a)
	if s.hooks != nil {
		e.Answer.Webhooks = s.hooks.called(id)
	}
	if s.mutates && a.Code < 300 && s.isCustom(r) && r.Operation != policy.OperationDelete && r.Subresource != "scale" {
		o, err := engine.Decode([]byte(encoded(a.Body)))
		if err != nil {
			s.t.Fatal(err)
		}
		e.Answer.Object = exchange.WithoutServerFields(o)
	}
	return id
}

func (s *stage) ask(r *exchange.Request, id string) answer {
	s.t.Helper()
	method, path, body := s.message(r)
	if r.Old != nil {
		body = s.revise(r)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.server+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Audit-Id", id)
	req.Header["Impersonate-User"] = []string{r.User.Name}
	req.Header["Impersonate-Group"] = r.User.Groups
	if r.User.UID != "" {
		req.Header["Impersonate-Uid"] = []string{r.User.UID}
	}
	for key, values := range r.User.Extra {
		req.Header["Impersonate-Extra-"+key] = values
	}
	if s.hooks != nil {
		req.Header["Impersonate-Extra-"+callKey] = []string{id}
	}
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	a := answer{Code: resp.StatusCode, Warnings: resp.Header["Warning"]}
	_ = json.Unmarshal(text, &a.Body) // CONNECT can be answered by text
	return a
}

// message also completes r.Options.
func (s *stage) message(r *exchange.Request) (method, path, body string) {
	path = "/apis/" + r.APIVersion
	if !strings.Contains(r.APIVersion, "/") {
		path = "/api/" + r.APIVersion
	}
	if r.Namespace != "" && r.Resource != "namespaces" {
		path += "/namespaces/" + r.Namespace
	}
	path += "/" + r.Resource
	if (r.Operation != policy.OperationCreate || r.Subresource != "") && !r.Collection {
		path += "/" + url.PathEscape(r.Name)
	}
	if r.Subresource != "" {
		path += "/" + r.Subresource
	}
	query := url.Values{}
	if r.DryRun {
		query.Set("dryRun", "All")
	}
	if r.Collection {
		query.Set("fieldSelector", "metadata.name="+r.Name)
	}
	for key, value := range r.Options {
		query.Set(key, fmt.Sprint(value))
	}
	switch r.Operation {
	case policy.OperationCreate:
		method, body = http.MethodPost, encoded(r.Object)
	case policy.OperationUpdate:
		method = http.MethodPut
	case policy.OperationDelete:
		method = http.MethodDelete
	case policy.OperationConnect:
		method = http.MethodPost
		if r.Subresource == "proxy" {
			path += str(r.Object, "path")
		}
		for key, value := range r.Object {
			values, isList := value.([]any)
			if !isList {
				values = []any{value}
			}
			for _, v := range values {
				if key != "apiVersion" && key != "kind" && key != "path" {
					query.Add(key, fmt.Sprint(v))
				}
			}
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	if len(r.Options) > 0 {
		r.Options = maps.Clone(r.Options)
		r.Options["apiVersion"] = "meta.k8s.io/v1"
		r.Options["kind"] = map[policy.Operation]string{policy.OperationCreate: "CreateOptions", policy.OperationUpdate: "UpdateOptions", policy.OperationDelete: "DeleteOptions"}[r.Operation]
		if r.DryRun {
			r.Options["dryRun"] = []any{"All"}
		}
	}
	return method, path, body
}

// revise completes the new object of an update with the resource version of the stored object, and
// returns it as JSON. A patch is applied to the stored object.
func (s *stage) revise(r *exchange.Request) string {
	if r.Operation != policy.OperationUpdate {
		return ""
	}
	if r.Patched {
		r.Object = merged(r.Old, r.Object).(exchange.Object)
		return encoded(r.Object)
	}
	r.Object = maps.Clone(r.Object)
	meta, _ := r.Object["metadata"].(exchange.Object)
	meta = maps.Clone(meta)
	meta["resourceVersion"] = str(r.Old, "metadata", "resourceVersion")
	r.Object["metadata"] = meta
	return encoded(r.Object)
}

// merged applies a JSON merge patch.
func merged(old, patch any) any {
	changes, ok := patch.(exchange.Object)
	if !ok {
		return patch
	}
	o, _ := old.(exchange.Object)
	out := maps.Clone(o)
	if out == nil {
		out = exchange.Object{}
	}
	for key, value := range changes {
		if value == nil {
			delete(out, key)
		} else {
			out[key] = merged(out[key], value)
		}
	}
	return out
}

func (s *stage) isCustom(r *exchange.Request) bool {
	group, _, _ := strings.Cut(r.APIVersion, "/")
	return slices.ContainsFunc(s.setup, func(doc exchange.Object) bool {
		return doc["kind"] == "CustomResourceDefinition" && str(doc, "spec", "group") == group
	})
}

// answer returns the comparable parts of a response. Its code is 0 if the server rejects the request
// for a reason that is not compared.
func (s *stage) answer(r *exchange.Request, a answer) exchange.Answer {
	s.t.Helper()
	out := exchange.Answer{Code: exchange.Accepted}
	custom := s.isCustom(r)
	warnings, errs := utilnet.ParseWarningHeaders(a.Warnings)
	if len(errs) > 0 {
		s.t.Errorf("%s: warnings %q: %v", r.Name, a.Warnings, errs)
	}
	for _, w := range warnings {
		if custom || s.whole || strings.HasPrefix(w.Text, "Validation failed for ValidatingAdmissionPolicy") {
			out.Warnings = append(out.Warnings, w.Text)
		}
	}
	byAdmission := byPolicy(a) || s.whole && a.Code == http.StatusForbidden
	switch {
	case a.Code < 300, str(a.Body, "reason") == "AlreadyExists", r.Operation == policy.OperationConnect && !byAdmission:
		return out
	case !s.whole && !byPolicy(a) && (!custom || r.Operation == policy.OperationDelete):
		s.t.Logf("not compared: %s %s %s: %d %s", r.Operation, r.Resource, r.Name, a.Code, a.message())
		return exchange.Answer{}
	}
	out.Code, out.Reason, out.Message = int32(a.Code), str(a.Body, "reason"), a.message()
	causes, _ := dig(a.Body, "details", "causes").([]any)
	for _, c := range causes {
		out.Causes = append(out.Causes, fmt.Sprintf("%s %s %s", str(c, "reason"), str(c, "field"), str(c, "message")))
	}
	return out
}

func (s *stage) audit(scene *exchange.Scene, ids []string) {
	s.t.Helper()
	index := map[string]int{}
	for i, id := range ids {
		if id != "" {
			index[id] = i
		}
	}
	s.until("requests are audited", startWithin, func() error {
		missing := maps.Clone(index)
		data, err := os.ReadFile(s.path("audit.log"))
		if err != nil {
			return err
		}
		end := len(data)
		data = data[s.audited:]
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, len(data)+1)
		for lines.Scan() {
			var event struct {
				AuditID     string
				Annotations map[string]string
			}
			if !bytes.Contains(lines.Bytes(), []byte(`"auditID":"celadon-`)) || json.Unmarshal(lines.Bytes(), &event) != nil {
				continue
			}
			i, ok := index[event.AuditID]
			if !ok {
				continue
			}
			delete(missing, event.AuditID)
			if scene.Exchanges[i].Answer.Code != 0 {
				scene.Exchanges[i].Answer.Annotations = ofPolicies(scene, event.Annotations)
			}
		}
		if len(missing) > 0 {
			return fmt.Errorf("%d are not", len(missing))
		}
		s.audited = end
		return nil
	})
}

func ofPolicies(scene *exchange.Scene, all map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range all {
		prefix, _, _ := strings.Cut(key, "/")
		if prefix == "validation.policy.admission.k8s.io" || slices.ContainsFunc(scene.Documents, func(doc exchange.Object) bool {
			return doc["kind"] == "ValidatingAdmissionPolicy" && str(doc, "metadata", "name") == prefix
		}) {
			out[key] = value
		}
	}
	return out
}
