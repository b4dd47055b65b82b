// Package clustertest provides an API server for tests. It serves lists of CRDs and objects that are
// generated on request, single objects, and the version.
package clustertest

import (
	"bufio"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"
)

// A Server is an API server for tests.
type Server struct {
	// Before, if not nil, is called for each request. If it returns true, it has sent the response.
	Before func(http.ResponseWriter, *http.Request) bool
	// Minor is the server's Kubernetes minor version; "" means 37.
	Minor string

	url      string
	crds     []string
	lists    map[string]list // by path
	mu       sync.Mutex
	requests []string
}

type list struct {
	kind, apiVersion string
	n                int
	item             func(int) string
}

// Start starts a server on 127.0.0.1 that stops when the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	return begin(t, httptest.NewServer)
}

// StartTLS is like Start, but with TLS. It also returns the server's certificate in PEM, and its
// address.
func StartTLS(t testing.TB) (s *Server, ca []byte, address string) {
	t.Helper()
	s = begin(t, func(h http.Handler) *httptest.Server {
		https := httptest.NewTLSServer(h)
		ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: https.Certificate().Raw})
		return https
	})
	return s, ca, strings.TrimPrefix(s.url, "https://")
}

func begin(t testing.TB, serve func(http.Handler) *httptest.Server) *Server {
	s := &Server{lists: map[string]list{}}
	server := serve(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// Define adds a CRD, in JSON or YAML, with n objects of its storage version.
func (s *Server) Define(t testing.TB, crd []byte, n int, item func(i int) string) {
	t.Helper()
	var obj map[string]any
	if err := yaml.Unmarshal(crd, &obj); err != nil {
		t.Fatal(err)
	}
	obj["metadata"].(map[string]any)["uid"] = fmt.Sprintf("uid-%d", len(s.crds))
	delete(obj, "apiVersion") // like the items of a real list
	delete(obj, "kind")
	spec := obj["spec"].(map[string]any)
	names := spec["names"].(map[string]any)
	for _, v := range spec["versions"].([]any) {
		version := v.(map[string]any)
		if version["storage"] == true {
			path := fmt.Sprintf("/apis/%s/%s/%s", spec["group"], version["name"], names["plural"])
			s.lists[path] = list{names["kind"].(string), fmt.Sprintf("%s/%s", spec["group"], version["name"]), n, item}
		}
	}
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	s.crds = append(s.crds, string(text))
}

// CRDs returns the defined CRDs in JSON.
func (s *Server) CRDs() []string { return s.crds }

// Requests returns the paths and queries of all requests.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.requests...)
}

// Kubeconfig writes a kubeconfig whose only context, prod, refers to the server. It returns the
// file's name.
func (s *Server) Kubeconfig(t testing.TB) string {
	t.Helper()
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"prod",
"clusters":[{"name":"c","cluster":{"server":%q}}],"users":[{"name":"u","user":{"token":"secret"}}],
"contexts":[{"name":"prod","context":{"cluster":"c","user":"u"}}]}`, s.url)
	name := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.URL.RequestURI())
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if s.Before != nil && s.Before(w, r) {
		return
	}
	switch r.URL.Path {
	case "/version":
		minor := s.Minor
		if minor == "" {
			minor = "37"
		}
		fmt.Fprintf(w, `{"major":"1","minor":%q}`, minor)
	case "/apis/apiextensions.k8s.io/v1/customresourcedefinitions":
		page(w, r, list{"CustomResourceDefinition", "apiextensions.k8s.io/v1", len(s.crds), func(i int) string { return s.crds[i] }})
	default:
		s.objects(w, r)
	}
}

func (s *Server) objects(w http.ResponseWriter, r *http.Request) {
	if l, ok := s.lists[r.URL.Path]; ok {
		page(w, r, l)
		return
	}
	folder, name := path.Split(r.URL.Path)
	before, rest, _ := strings.Cut(folder, "/namespaces/")
	_, plural, _ := strings.Cut(strings.TrimSuffix(rest, "/"), "/")
	l := s.lists[before+"/"+plural]
	for i := range l.n {
		var obj struct{ Metadata struct{ Name string } }
		if item := l.item(i); json.Unmarshal([]byte(item), &obj) == nil && obj.Metadata.Name == name {
			fmt.Fprint(w, item)
			return
		}
	}
	Fail(w, 404, "NotFound", fmt.Sprintf("%s not found", name))
}

// page streams items like a real server: the kind of the list is first, the continue token last.
func page(w http.ResponseWriter, r *http.Request, l list) {
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	to, next := l.n, ""
	if limit > 0 && from+limit < l.n {
		to = from + limit
		next = strconv.Itoa(to)
	}
	out := bufio.NewWriter(w)
	defer out.Flush()
	fmt.Fprintf(out, `{"kind":"%sList","apiVersion":%q,"items":[`, l.kind, l.apiVersion)
	for i := from; i < to; i++ {
		if i > from {
			fmt.Fprint(out, ",")
		}
		fmt.Fprint(out, l.item(i))
	}
	fmt.Fprintf(out, `],"metadata":{"resourceVersion":"1","continue":%q}}`, next)
}

// Fail sends an error response of an API server.
func Fail(w http.ResponseWriter, code int, reason, message string) {
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":%d,"reason":%q,"message":%q}`, code, reason, message)
}
