package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/celadon-cel/celadon/engine"
)

const (
	pollEvery = 20 * time.Millisecond
	// pollUntil is long, because the server rebuilds its OpenAPI document for each new CRD, on
	// cores that it shares with the tests.
	pollUntil = 2 * time.Minute
)

// Resource is a CRD that the server serves. Its methods are safe for concurrent use.
type Resource struct {
	server *Server
	crd    *apiextensionsv1.CustomResourceDefinition

	mu    sync.Mutex
	names map[string]*sync.Mutex
}

// Serve creates a CRD and waits until each served version responds. If the server rejects the CRD,
// Serve returns the client's error.
func (s *Server) Serve(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) (*Resource, error) {
	created, err := s.crds.ApiextensionsV1().CustomResourceDefinitions().Create(ctx, crd, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	r := newResource(s, created)
	return r, r.waitUntilServed(ctx)
}

func newResource(s *Server, crd *apiextensionsv1.CustomResourceDefinition) *Resource {
	return &Resource{server: s, crd: crd, names: map[string]*sync.Mutex{}}
}

// Remove deletes the CRD and waits until it is gone. It first deletes the objects in etcd, because
// the server would wait for their finalizers.
func (r *Resource) Remove(ctx context.Context) error {
	prefix := path.Join(etcdPrefix, r.crd.Spec.Group, r.crd.Spec.Names.Plural) + "/"
	if _, err := r.server.store.Delete(ctx, prefix, clientv3.WithPrefix()); err != nil {
		return err
	}
	crds := r.server.crds.ApiextensionsV1().CustomResourceDefinitions()
	if err := crds.Delete(ctx, r.crd.Name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	err := wait.PollUntilContextTimeout(ctx, pollEvery, pollUntil, true, func(ctx context.Context) (bool, error) {
		_, err := crds.Get(ctx, r.crd.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	if err != nil {
		return err
	}
	// The handler for objects notices the deletion later. Until then it would respond for the next
	// CRD of this name.
	return r.poll(ctx, func(a *response) bool { return a.code == http.StatusNotFound })
}

func (r *Resource) waitUntilServed(ctx context.Context) error {
	return r.poll(ctx, func(a *response) bool { return a.code == http.StatusOK })
}

func (r *Resource) poll(ctx context.Context, ok func(*response) bool) error {
	for _, v := range r.crd.Spec.Versions {
		if !v.Served {
			continue
		}
		err := wait.PollUntilContextTimeout(ctx, pollEvery, pollUntil, true, func(ctx context.Context) (bool, error) {
			a, err := r.do(ctx, call{method: http.MethodGet, version: v.Name})
			return err == nil && ok(a), nil
		})
		if err != nil {
			return fmt.Errorf("%s, version %s, does not answer as it must: %w", r.crd.Name, v.Name, err)
		}
	}
	return nil
}

// lock serializes cases that use the same object name, as cases for cluster-scoped kinds often do.
// The caller must call unlock.
func (r *Resource) lock(namespace, name string) (unlock func()) {
	r.mu.Lock()
	key := namespace + "/" + name
	m := r.names[key]
	if m == nil {
		m = &sync.Mutex{}
		r.names[key] = m
	}
	r.mu.Unlock()
	m.Lock()
	return m.Unlock
}

func (r *Resource) namespaced() bool {
	return r.crd.Spec.Scope == apiextensionsv1.NamespaceScoped
}

func (r *Resource) storageVersion() string {
	for _, v := range r.crd.Spec.Versions {
		if v.Storage {
			return v.Name
		}
	}
	return ""
}

func (r *Resource) statusSubresource(version string) bool {
	for _, v := range r.crd.Spec.Versions {
		if v.Name == version {
			return v.Subresources != nil && v.Subresources.Status != nil
		}
	}
	return false
}

// call is an HTTP request for objects of a resource. An empty name selects the collection.
type call struct {
	method, version              string
	namespace, name, subresource string
	fieldValidation              string
	fieldManager                 string
	body                         []byte
}

type response struct {
	code     int
	body     []byte
	warnings []string
	// again is set if the server was not ready and the request must be repeated.
	again bool
}

func (r *Resource) do(ctx context.Context, c call) (*response, error) {
	got, err := r.server.do(ctx, c.method, r.path(c), c.body)
	if err != nil || got.code != http.StatusInternalServerError || !bytes.Contains(got.body, []byte(rootItems)) {
		return got, err
	}
	return r.listed(ctx, c, got)
}

// rootItems is the server's error after it stored or read an object with a list called items at its
// root. See TestRootItems.
const rootItems = "*unstructured.Unstructured is not a list: no Items field in this object"

// listed replaces the error rootItems by a response with the object, from a list of all objects. If it
// does not find the object, it returns broken.
func (r *Resource) listed(ctx context.Context, c call, broken *response) (*response, error) {
	all, err := r.server.do(ctx, http.MethodGet, r.path(call{version: c.version, namespace: c.namespace}), nil)
	if err != nil || all.code != http.StatusOK {
		return broken, err
	}
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal(all.body, &list); err != nil {
		return nil, err
	}
	name := c.name
	if name == "" {
		sent, err := engine.Decode(c.body)
		if err != nil {
			return nil, err
		}
		name = nameOf(sent)
	}
	for _, item := range list.Items {
		obj, err := engine.Decode(item)
		if err != nil {
			return nil, err
		}
		if nameOf(obj) != name {
			continue
		}
		code := http.StatusOK
		if c.method == http.MethodPost {
			code = http.StatusCreated
		}
		return &response{code: code, body: item, warnings: broken.warnings}, nil
	}
	return broken, nil
}

// While a CRD's status changes, the server rejects requests without handling them, so do repeats them.
func (s *Server) do(ctx context.Context, method, path string, body []byte) (*response, error) {
	var answer *response
	err := wait.PollUntilContextTimeout(ctx, pollEvery, pollUntil, true, func(ctx context.Context) (done bool, err error) {
		answer, err = s.try(ctx, method, path, body)
		return err == nil && !answer.again, err
	})
	return answer, err
}

func (s *Server) try(ctx context.Context, method, path string, body []byte) (*response, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.host+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	headers, errs := utilnet.ParseWarningHeaders(answer.Header["Warning"])
	if len(errs) > 0 {
		return nil, errs[0]
	}
	out := &response{code: answer.StatusCode, body: content}
	out.again = out.code == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") != ""
	for _, h := range headers {
		out.warnings = append(out.warnings, h.Text)
	}
	return out, nil
}

func (r *Resource) path(c call) string {
	parts := []string{"/apis", r.crd.Spec.Group, c.version}
	if c.namespace != "" {
		parts = append(parts, "namespaces", c.namespace)
	}
	parts = append(parts, r.crd.Spec.Names.Plural, c.name, c.subresource)
	query := url.Values{}
	if c.fieldValidation != "" {
		query.Set("fieldValidation", c.fieldValidation)
	}
	if c.fieldManager != "" {
		query.Set("fieldManager", c.fieldManager)
	}
	if len(query) == 0 {
		return path.Join(parts...)
	}
	return path.Join(parts...) + "?" + query.Encode()
}
