package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/clustertest"
)

func crdText(plural string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%[1]s.g.io"},
"spec":{"group":"g.io","scope":"Namespaced","names":{"plural":%[1]q,"singular":"thing","kind":"Thing","shortNames":["th"]},"versions":[
{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, plural)
}

func thing(i int) string {
	return fmt.Sprintf(`{"apiVersion":"g.io/v1","kind":"Thing","metadata":{"name":"n%06d","namespace":"d","managedFields":[{}]},"spec":{"i":%d}}`, i, i)
}

func opened(t *testing.T, s *clustertest.Server, f Flags) *Client {
	t.Helper()
	t.Setenv("KUBECONFIG", s.Kubeconfig(t))
	c, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func kind(t *testing.T, plural string) Kind {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(crdText(plural), &crd); err != nil {
		t.Fatal(err)
	}
	k, err := KindOf(&crd)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func read(ctx context.Context, c *Client, kinds ...Kind) (names []string, errs []error) {
	c.Objects(ctx, kinds)(func() {}, func(chunk input.Chunk) bool {
		return chunk.Each(func(doc *input.Document) bool {
			if doc.Err != nil {
				errs = append(errs, doc.Err)
			} else {
				names = append(names, doc.File)
			}
			return true
		})
	})
	return names, errs
}

func all(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("things.g.io/d/n%06d", i)
	}
	return names
}

func TestObjects(t *testing.T) {
	s := clustertest.Start(t)
	s.Define(t, crdText("things"), 1234, thing)
	c := opened(t, s, Flags{All: true, Selector: "a=b"})
	names, errs := read(t.Context(), c, kind(t, "things"))
	if !slices.Equal(names, all(1234)) || errs != nil {
		t.Errorf("%d objects, %v", len(names), errs)
	}
	want := []string{
		"/apis/g.io/v1/things?labelSelector=a%3Db&limit=500",
		"/apis/g.io/v1/things?continue=500&labelSelector=a%3Db&limit=500",
		"/apis/g.io/v1/things?continue=1000&labelSelector=a%3Db&limit=500",
	}
	if got := s.Requests(); !slices.Equal(got, want) {
		t.Errorf("requests %q", got)
	}
}

func TestShown(t *testing.T) {
	s := clustertest.Start(t)
	s.Define(t, crdText("things"), 1, thing)
	c := opened(t, s, Flags{Namespace: "d"})
	_, object, err := c.Object(t.Context(), "th/n000000")
	if err != nil {
		t.Fatal(err)
	}
	object.Each(func(doc *input.Document) bool {
		want := "{\n    \"apiVersion\": \"g.io/v1\",\n    \"kind\": \"Thing\",\n    \"metadata\": {\n        \"name\": \"n000000\",\n        \"namespace\": \"d\"\n    },\n    \"spec\": {\n        \"i\": 0\n    }\n}"
		if text, line, _ := doc.Source(); string(text) != want || line != 1 || !doc.Live || doc.File != "things.g.io/d/n000000" {
			t.Errorf("%s:%d:\n%s\n%v", doc.File, line, text, doc.Err)
		}
		return true
	})
}

func TestBusy(t *testing.T) {
	for code, header := range map[int]string{429: "1", 503: ""} {
		s := clustertest.Start(t)
		s.Define(t, crdText("things"), 3, thing)
		var requested []time.Time
		s.Before = func(w http.ResponseWriter, r *http.Request) bool {
			if requested = append(requested, time.Now()); len(requested) > 1 {
				return false
			}
			if header != "" {
				w.Header().Set("Retry-After", header)
			}
			clustertest.Fail(w, code, "", "busy")
			return true
		}
		c := opened(t, s, Flags{All: true})
		if names, errs := read(t.Context(), c, kind(t, "things")); len(names) != 3 || errs != nil {
			t.Errorf("%d: %v, %v", code, names, errs)
		}
		if len(requested) != 2 || requested[1].Sub(requested[0]) < 900*time.Millisecond {
			t.Errorf("%d: asked at %v", code, requested)
		}
	}
}

func TestForbidden(t *testing.T) {
	s := clustertest.Start(t)
	for _, plural := range []string{"as", "bs", "things"} {
		s.Define(t, crdText(plural), 2, thing)
	}
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/things") {
			return false
		}
		clustertest.Fail(w, 403, "Forbidden", r.URL.Path+" is forbidden")
		return true
	}
	c := opened(t, s, Flags{All: true})
	names, errs := read(t.Context(), c, kind(t, "as"), kind(t, "bs"), kind(t, "things"))
	if len(names) != 2 || len(errs) != 2 || !strings.Contains(errs[1].Error(), "not read, because of missing permission to list it: /apis/g.io/v1/bs is forbidden") {
		t.Errorf("%v, %v", names, errs)
	}
}

func TestObject(t *testing.T) {
	s := clustertest.Start(t)
	s.Define(t, crdText("things"), 3, thing)
	s.Define(t, crdText("others"), 3, thing)
	c := opened(t, s, Flags{All: true})
	for ref, want := range map[string]string{
		"things/n000001": "", "Things.g.io/n000001": "",
		"thing/n000001": "is of things.g.io and of others.g.io", "th/n000001": "choose one",
		"things/none": "not found", "gizmo/a": "has no CustomResourceDefinition for",
		"things": "want KIND/NAME", "things/../a": "the name may not contain '/'", "things/..": "may not be '..'", "/a": "want KIND/NAME",
	} {
		_, _, err := c.Object(t.Context(), ref)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	for _, asked := range s.Requests() {
		if !strings.HasPrefix(asked, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?") && !strings.HasPrefix(asked, "/apis/g.io/v1/namespaces/default/things/n") {
			t.Errorf("%s was requested", asked)
		}
	}
}

// Each of the servers of TestInterrupted would cause an error later.
func TestInterrupted(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request){
		"silence": func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"a busy server": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "30")
			clustertest.Fail(w, 429, "TooManyRequests", "busy")
		},
		"half a page": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"items":[%s,`, thing(0))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := clustertest.Start(t)
			ctx, cancel := context.WithCancel(t.Context())
			s.Before = func(w http.ResponseWriter, r *http.Request) bool {
				time.AfterFunc(50*time.Millisecond, cancel)
				answer(w, r)
				return true
			}
			c := opened(t, s, Flags{All: true})
			if _, errs := read(ctx, c, kind(t, "things")); errs != nil {
				t.Error(errs)
			}
		})
	}
}

// TestVersions checks that the server's version is mapped to one that this build supports.
func TestVersions(t *testing.T) {
	for minor, want := range map[string]string{"31": "1.31", "33+": "1.33", "3": "1.28", "99": "1.38", "x": ""} {
		s := clustertest.Start(t)
		s.Minor = minor
		c := opened(t, s, Flags{All: true})
		warnings := 0
		c.Warn = func(error) { warnings++ }
		got, err := c.KubeVersion(t.Context())
		if got != want || (err != nil) != (want == "") || (warnings == 1) != (minor == "3" || minor == "99") {
			t.Errorf("%s: %q, %v, told %d times", minor, got, err, warnings)
		}
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "config")
	t.Setenv("KUBECONFIG", config)
	if _, err := (&Flags{}).Open(); !errors.Is(err, errNoConfig) {
		t.Errorf("without a kubeconfig: %v", err)
	}
	object := filepath.Join(dir, "object.yaml")
	if err := os.WriteFile(object, []byte("apiVersion: v1\nkind: Pod\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{config: "no such file or directory", object: "not a kubeconfig: want kind: Config"} {
		if _, err := (&Flags{Kubeconfig: file}).Open(); err == nil || err.Error() != "--kubeconfig: "+file+": "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"other","clusters":[{"name":"c","cluster":{"server":"http://%[1]s"}}],
"users":[{"name":"u","user":{"token":"a"}},{"name":"runs","user":{"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"touch","args":["%[2]s/ran"],"interactiveMode":"Never"}}}],
"contexts":[{"name":"plain","context":{"cluster":"c","user":"u"}},{"name":"other","context":{"cluster":"c","user":"runs"}}]}`, listener.Addr(), dir)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Flags{Context: "none"}).Open(); err == nil || !strings.Contains(err.Error(), `--context "none": the kubeconfig has no such context (it has other, plain)`) {
		t.Errorf("%v", err)
	}
	hostile := strings.Replace(text, `"context":{"cluster":"c","user":"u"}`, `"context":{"cluster":"c","user":"u","namespace":"../../x"}`, 1)
	if err := os.WriteFile(config, []byte(hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Flags{Context: "plain"}).Open(); err == nil || !strings.Contains(err.Error(), `the context's namespace "../../x"`) {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for _, f := range []Flags{{}, {Context: "plain"}} {
		c, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if f.Context == "plain" {
			_, err = c.KubeVersion(ctx)
		}
		if _, missing := os.Stat(filepath.Join(dir, "ran")); missing == nil {
			t.Errorf("context %q runs the program of another context (%v)", f.Context, err)
		}
	}
}
