package kube

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/celadon-cel/celadon/internal/testing/exchange"
)

// installed is how long the API server may take until it evaluates new policies. It looks for them
// once per second.
const installed = 15 * time.Second

// A stage sends the requests of scenes to a plane. Between scenes it replaces the policies.
type stage struct {
	*plane
	// setup holds CRDs and RBAC objects, which all scenes share.
	setup []exchange.Object
	kinds map[string]kindInfo
	// waves counts the installed sets of policies.
	waves int
	// previous lists the paths of the policies, bindings, and params of the previous scene.
	previous []string
	requests int
	// audited is the length of the audit log that was read.
	audited int
	mutates bool
	// stored holds the paths of the objects that all scenes share.
	stored map[string]bool
	// whole is set if the whole answer is compared, not only what policies decide. hooks, if not nil, records the
	// webhooks that the server calls.
	whole bool
	hooks *hooks
}

type kindInfo struct {
	path       string // of the API version
	plural     string
	namespaced bool
}

func newStage(p *plane, setup []exchange.Object) *stage {
	s := &stage{plane: p, kinds: map[string]kindInfo{}, stored: map[string]bool{}}
	for _, doc := range setup {
		if doc["kind"] == "Namespace" {
			s.namespace(doc)
		} else {
			s.create(doc)
		}
		_, own := s.paths(doc)
		s.stored[own] = true
		if doc["kind"] == "CustomResourceDefinition" {
			s.untilServed(doc)
		}
	}
	for _, doc := range setup {
		switch doc["kind"] {
		case "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding":
			s.setup = append(s.setup, doc)
		}
	}
	s.setup = append(s.setup, s.builtinRoles()...)
	s.create(object(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"marker"}}`))
	return s
}

func object(text string) exchange.Object {
	var o exchange.Object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		panic(err)
	}
	return o
}

func (s *stage) untilServed(crd exchange.Object) {
	s.t.Helper()
	group, plural := str(crd, "spec", "group"), str(crd, "spec", "names", "plural")
	versions, _ := dig(crd, "spec", "versions").([]any)
	for _, v := range versions {
		path := "/apis/" + group + "/" + str(v, "name") + "/" + plural
		s.until(path+" is served", startWithin, func() error {
			code, body, err := s.try(http.MethodGet, path, "")
			if err == nil && code != http.StatusOK {
				err = fmt.Errorf("%d: %s", code, body)
			}
			return err
		})
	}
}

// builtinRoles returns the roles of the API server that bind all authenticated users.
func (s *stage) builtinRoles() (docs []exchange.Object) {
	const path = "/apis/rbac.authorization.k8s.io/v1/"
	for _, b := range list(s.do(http.MethodGet, path+"clusterrolebindings", "")) {
		subjects, _ := b["subjects"].([]any)
		if !strings.HasPrefix(str(b, "metadata", "name"), "system:") || !slices.ContainsFunc(subjects, func(v any) bool { return str(v, "name") == "system:authenticated" }) {
			continue
		}
		role := s.do(http.MethodGet, path+"clusterroles/"+str(b, "roleRef", "name"), "").Body
		for _, doc := range []exchange.Object{b, role} {
			doc["apiVersion"] = "rbac.authorization.k8s.io/v1"
			doc["metadata"] = exchange.Object{"name": str(doc, "metadata", "name")}
		}
		b["kind"], role["kind"] = "ClusterRoleBinding", "ClusterRole"
		docs = append(docs, role, b)
	}
	return docs
}

func list(a answer) (items []exchange.Object) {
	all, _ := a.Body["items"].([]any)
	for _, item := range all {
		items = append(items, item.(exchange.Object))
	}
	return items
}

func dig(v any, path ...string) any {
	for _, field := range path {
		o, _ := v.(exchange.Object)
		v = o[field]
	}
	return v
}

func str(v any, path ...string) string { text, _ := dig(v, path...).(string); return text }

func (s *stage) kind(apiVersion, kind string) (kindInfo, bool) {
	s.t.Helper()
	if info, ok := s.kinds[apiVersion+"/"+kind]; ok {
		return info, true
	}
	path := "/apis/" + apiVersion
	if !strings.Contains(apiVersion, "/") {
		path = "/api/" + apiVersion
	}
	resources, _ := s.do(http.MethodGet, path, "").Body["resources"].([]any)
	for _, r := range resources {
		if name := str(r, "name"); !strings.Contains(name, "/") {
			namespaced, _ := dig(r, "namespaced").(bool)
			s.kinds[apiVersion+"/"+str(r, "kind")] = kindInfo{path, name, namespaced}
		}
	}
	info, ok := s.kinds[apiVersion+"/"+kind]
	return info, ok
}

func (s *stage) paths(doc exchange.Object) (collection, own string) {
	s.t.Helper()
	info, ok := s.kind(str(doc, "apiVersion"), str(doc, "kind"))
	if !ok {
		s.t.Fatalf("the API server has no %v %v", doc["apiVersion"], doc["kind"])
	}
	collection = info.path
	if info.namespaced {
		namespace := str(doc, "metadata", "namespace")
		if namespace == "" {
			namespace = "default"
		}
		collection += "/namespaces/" + namespace
	}
	collection += "/" + info.plural
	return collection, collection + "/" + url.PathEscape(str(doc, "metadata", "name"))
}

func encoded(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// post creates an object, and replaces an existing one. It repeats the requests while policies of the
// previous scene deny them.
func (s *stage) post(doc exchange.Object) (a answer) {
	s.t.Helper()
	collection, own := s.paths(doc)
	s.until("policies of the previous scene are gone", installed, func() error {
		if a = s.do(http.MethodPost, collection+"?fieldValidation=Strict", encoded(doc)); a.Code == http.StatusConflict {
			s.do(http.MethodPatch, own, `{"metadata":{"finalizers":null}}`)
			s.do(http.MethodDelete, own+"?gracePeriodSeconds=0&propagationPolicy=Background", "")
			a = s.do(http.MethodPost, collection+"?fieldValidation=Strict", encoded(doc))
		}
		if a.Code == http.StatusConflict || byPolicy(a) {
			return fmt.Errorf("%d: %s", a.Code, a.message())
		}
		return nil
	})
	return a
}

func byPolicy(a answer) bool { return strings.Contains(a.message(), " denied request: ") }

func (s *stage) create(doc exchange.Object) {
	s.t.Helper()
	if a := s.post(doc); a.Code != http.StatusCreated {
		s.t.Fatalf("%s: %d: %s", encoded(doc), a.Code, a.message())
	}
}

// namespace creates a Namespace, or sets the labels of an existing one. Namespaces are never deleted,
// because no controller would finish that.
func (s *stage) namespace(doc exchange.Object) {
	s.t.Helper()
	collection, own := s.paths(doc)
	labels, _ := dig(doc, "metadata", "labels").(exchange.Object)
	if a := s.do(http.MethodGet, own, ""); a.Code == http.StatusOK {
		patch := exchange.Object{}
		old, _ := dig(a.Body, "metadata", "labels").(exchange.Object)
		for key := range old {
			if key != "kubernetes.io/metadata.name" {
				patch[key] = nil
			}
		}
		for key, value := range labels {
			patch[key] = value
		}
		s.until("the labels of "+own, installed, func() error {
			a := s.do(http.MethodPatch, own, encoded(exchange.Object{"metadata": exchange.Object{"labels": patch}}))
			if a.Code != http.StatusOK {
				return fmt.Errorf("%d: %s", a.Code, a.message())
			}
			return nil
		})
		return
	}
	s.until(own, installed, func() error {
		if a := s.do(http.MethodPost, collection, encoded(doc)); a.Code != http.StatusCreated {
			return fmt.Errorf("%d: %s", a.Code, a.message())
		}
		return nil
	})
}

// The marker warns about requests in the namespace marker once the server evaluates the policies that
// were installed before it. It does not deny them, because only one denial is in an answer.
const (
	markerPolicy = `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"marker-%[1]d"},"spec":{
		"paramKind":{"apiVersion":"example.com/v1","kind":"Params"},
		"matchConstraints":{"namespaceSelector":{"matchLabels":{"wave":"w%[1]d"}},"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]},
		"validations":[{"expression":"false","message":"wave %[1]d"}]}}`
	markerBinding = `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":"marker-%[1]d"},"spec":{
		"policyName":"marker-%[1]d","validationActions":["Warn"],"paramRef":{"selector":{"matchLabels":{"wave":"w%[1]d"}},"parameterNotFoundAction":"Allow"}}}`
	markerParams = `{"apiVersion":"example.com/v1","kind":"Params","metadata":{"name":"marker-%[1]d","namespace":"marker","labels":{"wave":"w%[1]d"}}}`
	// The mutating marker adds data to them.
	mutatingMarkerPolicy = `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingAdmissionPolicy","metadata":{"name":"marker-%[1]d"},"spec":{
		"paramKind":{"apiVersion":"example.com/v1","kind":"Params"},"reinvocationPolicy":"Never",
		"matchConstraints":{"namespaceSelector":{"matchLabels":{"wave":"w%[1]d"}},"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]},
		"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{data: {'wave': 'w%[1]d'}}"}}]}}`
	mutatingMarkerBinding = `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingAdmissionPolicyBinding","metadata":{"name":"marker-%[1]d"},"spec":{
		"policyName":"marker-%[1]d","paramRef":{"selector":{"matchLabels":{"wave":"w%[1]d"}},"parameterNotFoundAction":"Allow"}}}`
	markerProbe = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"probe","namespace":"marker"}}`
)

// settle waits until the server evaluates all installed policies with the current Namespaces and
// params. Each of these arrives in the server in the order of its changes, so it waits for the last.
func (s *stage) settle() {
	s.t.Helper()
	s.waves++
	s.namespace(object(fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"marker","labels":{"wave":"w%d"}}}`, s.waves)))
	markers := []string{markerParams, markerPolicy, markerBinding}
	if s.mutates {
		markers = append(markers, mutatingMarkerPolicy, mutatingMarkerBinding)
	}
	for _, text := range markers {
		doc := object(fmt.Sprintf(text, s.waves))
		s.create(doc)
		s.remember(doc)
	}
	s.until("policies are in force", installed, func() error {
		a := s.do(http.MethodPost, "/api/v1/namespaces/marker/configmaps?dryRun=All", markerProbe)
		if !strings.Contains(strings.Join(a.Warnings, "\n"), fmt.Sprintf("'marker-%d'", s.waves)) {
			return fmt.Errorf("%d: %s %q", a.Code, a.message(), a.Warnings)
		}
		if want := fmt.Sprintf("w%d", s.waves); s.mutates && str(a.Body, "data", "wave") != want {
			return fmt.Errorf("the ConfigMap has no %s: %v", want, a.Body["data"])
		}
		return nil
	})
	if s.mutates {
		s.untilMergeable()
	}
}

// untilMergeable waits until the server knows the schemas of custom resources for patches, which it reads
// from its own OpenAPI document.
func (s *stage) untilMergeable() {
	s.t.Helper()
	for _, crd := range s.setup {
		if crd["kind"] != "CustomResourceDefinition" {
			continue
		}
		versions, _ := dig(crd, "spec", "versions").([]any)
		for _, v := range versions {
			probe := exchange.Object{"apiVersion": str(crd, "spec", "group") + "/" + str(v, "name"), "kind": str(crd, "spec", "names", "kind"), "metadata": exchange.Object{"name": "merge-probe"}}
			collection, _ := s.paths(probe)
			s.until(collection+" is known for patches", startWithin, func() error {
				if a := s.do(http.MethodPost, collection+"?dryRun=All", encoded(probe)); a.Code == http.StatusServiceUnavailable {
					return fmt.Errorf("%d: %s", a.Code, a.message())
				}
				return nil
			})
		}
	}
}

func (s *stage) remember(doc exchange.Object) {
	_, own := s.paths(doc)
	s.previous = append(s.previous, own)
}

// clear deletes the policies, bindings, and params of the previous scene. No policy can deny the
// deletion of a binding or policy. Deletions of webhooks and params are repeated while policies deny them.
func (s *stage) clear() {
	s.t.Helper()
	isPolicy := func(path string) int {
		if strings.HasPrefix(path, "/apis/admissionregistration.k8s.io/") && strings.Contains(path, "polic") {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(s.previous, func(a, b string) int { return isPolicy(a) - isPolicy(b) })
	for _, path := range s.previous {
		s.until(path+" is gone", installed, func() error {
			if a := s.do(http.MethodDelete, path, ""); a.Code != http.StatusOK && a.Code != http.StatusNotFound {
				return fmt.Errorf("%d: %s", a.Code, a.message())
			}
			return nil
		})
	}
	s.previous = nil
}
