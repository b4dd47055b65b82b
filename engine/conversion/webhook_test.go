package conversion_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
)

func widget(version string) map[string]any {
	return map[string]any{"apiVersion": "w.test/" + version, "kind": "Widget", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"n": int64(1)}}
}

func question(versions ...string) engine.Conversion {
	if versions == nil {
		versions = []string{"v1"}
	}
	return engine.Conversion{Object: widget("v1"), APIVersion: "w.test/v2", ReviewVersions: versions}
}

func webhook(t *testing.T, h http.HandlerFunc) conversion.Webhook {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return conversion.Webhook{URL: s.URL + "/convert", CA: ca, Timeout: time.Minute}
}

func ask(t *testing.T, w conversion.Webhook, q engine.Conversion) (map[string]any, error) {
	t.Helper()
	c, err := w.Converter()
	if err != nil {
		t.Fatal(err)
	}
	return c.Convert(t.Context(), q)
}

func relabel(w http.ResponseWriter, req *http.Request) {
	var review struct {
		APIVersion string `json:"apiVersion"`
		Request    struct {
			UID               string           `json:"uid"`
			DesiredAPIVersion string           `json:"desiredAPIVersion"`
			Objects           []map[string]any `json:"objects"`
		} `json:"request"`
	}
	if err := json.NewDecoder(req.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, obj := range review.Request.Objects {
		obj["apiVersion"] = review.Request.DesiredAPIVersion
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": review.APIVersion, "kind": "ConversionReview", "response": map[string]any{
		"uid": review.Request.UID, "convertedObjects": review.Request.Objects, "result": map[string]any{"status": "Success"},
	}})
}

func TestWebhookIsAskedAsTheServerAsks(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"v1":      `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"UID","desiredAPIVersion":"w.test/v2","objects":[{"apiVersion":"w.test/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"n":1}}]},"response":{"uid":"","convertedObjects":null,"result":{"metadata":{}}}}` + "\n",
		"v1beta1": `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1beta1","request":{"uid":"UID","desiredAPIVersion":"w.test/v2","objects":[{"apiVersion":"w.test/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"n":1}}]},"response":{"uid":"","convertedObjects":null,"result":{"metadata":{}}}}` + "\n",
	} {
		var bodies []string
		w := webhook(t, func(w http.ResponseWriter, req *http.Request) {
			body, _ := io.ReadAll(req.Body)
			bodies = append(bodies, string(body))
			if got := req.Header.Get("Content-Type"); got != "application/json" || req.Method != http.MethodPost || req.URL.String() != "/convert?timeout=1m0s" {
				t.Errorf("%s %s, %s", req.Method, req.URL, got)
			}
			req.Body = io.NopCloser(strings.NewReader(string(body)))
			relabel(w, req)
		})
		for range 2 {
			got, err := ask(t, w, question("v7", version, "v1"))
			if err != nil || got["apiVersion"] != "w.test/v2" || got["spec"].(map[string]any)["n"] != int64(1) {
				t.Errorf("%v, %v", got, err)
			}
		}
		if len(bodies) != 2 || bodies[0] != bodies[1] {
			t.Fatalf("the same question has other bytes: %q", bodies)
		}
		_, after, _ := strings.Cut(bodies[0], `"uid":"`)
		uid, _, _ := strings.Cut(after, `"`)
		if got := strings.Replace(bodies[0], uid, "UID", 1); len(uid) != 36 || got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", version, got, want)
		}
	}
}

func TestWebhookIsBounded(t *testing.T) {
	t.Parallel()
	deep := `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"x","convertedObjects":[` + strings.Repeat(`{"a":`, 20_000) + `1` + strings.Repeat(`}`, 20_000) + `]}}`
	answered := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
	}
	var again atomic.Int64
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"huge": {answered(`{"a":"` + strings.Repeat("x", 2<<20) + `"}`), "failed: the response is too large (got more than 1048576 bytes)"},
		"a bomb": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, strings.Repeat(" ", 8<<20))
			_ = z.Close()
		}, "failed: the response is too large (got more than 1048576 bytes)"},
		"huge, no JSON": {answered(strings.Repeat("- x\n", 100_000)), "failed: the response is not JSON (got 400000 bytes, want JSON if longer than 65536)"},
		"deep":          {answered(deep), "exceeded max depth"},
		"empty":         {answered(""), "failed: 0-length response with status code: 200 and content type: application/json"},
		"other address": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://169.254.169.254/x", http.StatusTemporaryRedirect)
		}, "redirect to another address (got https://169.254.169.254, want https://127.0.0.1:"},
		"no longer TLS": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+r.Host+"/x", http.StatusTemporaryRedirect)
		}, "redirect to another address (got http://127.0.0.1:"},
		"round and round": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/convert", http.StatusTemporaryRedirect)
		}, "stopped after 10 redirects"},
		"always again": {func(w http.ResponseWriter, _ *http.Request) {
			again.Add(1)
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		}, "failed: the server is currently unable to handle the request"},
		"headers": {func(w http.ResponseWriter, _ *http.Request) {
			for i := range 100 {
				w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 1000))
			}
		}, "server response headers exceeded 65536 bytes"},
		"panic": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := webhook(t, test.answer)
			w.MaxBytes = 1 << 20
			_, err := ask(t, w, question())
			var unknown *engine.NotCheckedError
			if !errors.As(err, &unknown) || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "conversion webhook for w.test/v1, Kind=Widget failed: ") {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	t.Cleanup(func() {
		if n := again.Load(); n != 11 {
			t.Errorf("got %d calls, want 1 and 10 retries", n)
		}
	})
}

func TestWebhookHangs(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	release := make(chan struct{})
	w := webhook(t, func(http.ResponseWriter, *http.Request) {
		requests.Add(1)
		<-release
	})
	t.Cleanup(func() { close(release) }) // before the server is closed
	w.Timeout, w.Patience = 20*time.Millisecond, 2
	c, err := w.Converter()
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		_, err := c.Convert(t.Context(), question())
		var failed *conversion.Error
		if !errors.As(err, &failed) || failed.Failure != conversion.TooSlow || failed.Text != `conversion webhook for w.test/v1, Kind=Widget failed: Post "`+w.URL+`?timeout=20ms": context deadline exceeded` {
			t.Errorf("got %v", err)
		}
	}
	if n := requests.Load(); n > 2 {
		t.Errorf("got %d calls, want 2", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Convert(ctx, question()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that of the context", err)
	}
}

// Connections that fail do not count as responses.
func TestWebhookPatience(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	release := make(chan struct{})
	w := webhook(t, func(http.ResponseWriter, *http.Request) {
		if requests.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
		<-release
	})
	t.Cleanup(func() { close(release) })
	w.Timeout, w.Patience = time.Second, 1 // enough for the first connection on a busy machine
	c, err := w.Converter()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Convert(t.Context(), question()); err == nil || !strings.Contains(err.Error(), "EOF") {
		t.Errorf("got %v, want an aborted connection", err)
	}
	for range 3 {
		if _, err := c.Convert(t.Context(), question()); err == nil {
			t.Error("got no timeout")
		}
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("got %d calls, want 2", n)
	}
}

// A webhook that has responded once is always called again.
func TestWebhookIsLate(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	var requests atomic.Int64
	release := make(chan struct{})
	w := webhook(t, func(w http.ResponseWriter, req *http.Request) {
		if n := requests.Add(1); n == 2 || n == 3 {
			<-release
		}
		relabel(w, req)
	})
	t.Cleanup(func() { close(release) })
	w.Timeout, w.Patience = 5*time.Second, 1 // the other responses must arrive in time on a busy machine
	c, err := w.Converter()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if _, err := c.Convert(t.Context(), question()); (err != nil) != (i == 1 || i == 2) {
			t.Errorf("question %d: %v", i+1, err)
		}
	}
}

func TestWebhookMaxWaiting(t *testing.T) {
	t.Parallel()
	requests, release := make(chan struct{}, 1), make(chan struct{})
	w := webhook(t, func(w http.ResponseWriter, req *http.Request) {
		requests <- struct{}{}
		<-release
		relabel(w, req)
	})
	w.MaxWaiting = 1
	c, err := w.Converter()
	if err != nil {
		t.Fatal(err)
	}
	first := make(chan error)
	go func() {
		_, err := c.Convert(t.Context(), question())
		first <- err
	}()
	<-requests
	_, err = c.Convert(t.Context(), question())
	var unknown *engine.NotCheckedError
	if !errors.As(err, &unknown) || !strings.HasSuffix(err.Error(), "failed: 1 conversions are already waiting for it") {
		t.Errorf("got %v", err)
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if _, err := c.Convert(t.Context(), question()); err != nil {
		t.Error(err)
	}
}

func TestWebhookRedirects(t *testing.T) {
	t.Parallel()
	w := webhook(t, func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/convert" {
			http.Redirect(w, req, "/there", http.StatusTemporaryRedirect)
			return
		}
		relabel(w, req)
	})
	if _, err := ask(t, w, question()); err != nil {
		t.Error(err)
	}
}

func TestWebhookThatCannotBe(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"":                      `not an https URL (got "", want https://HOST/PATH)`,
		"http://a/":             `not an https URL (got "http://a/", want https://HOST/PATH)`,
		"https://":              `not an https URL (got "https:", want https://HOST/PATH)`,
		"https://u:secret@a/":   `the URL has a user, a query or a fragment (got "https://u:xxxxx@a/", want https://HOST/PATH)`,
		"https://a/?x":          `the URL has a user, a query or a fragment (got "https://a/?x", want https://HOST/PATH)`,
		"https://a/#x":          `the URL has a user, a query or a fragment (got "https://a/#x", want https://HOST/PATH)`,
		"https://a:secret@:x/%": "the URL cannot be parsed",
	} {
		if _, err := (conversion.Webhook{URL: url}).Converter(); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", url, err, want)
		}
	}
	if _, err := (conversion.Webhook{URL: "https://a/", CA: []byte("x")}).Converter(); err == nil || err.Error() != "the CA bundle has no certificate in PEM" {
		t.Errorf("got %v", err)
	}
	w := webhook(t, relabel)
	w.CA = nil // the system's certificates do not include it
	var unknown *engine.NotCheckedError
	if _, err := ask(t, w, question()); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v", err)
	}
	if _, err := ask(t, w, question("v7")); !errors.As(err, &unknown) || err.Error() != "no supported conversion review versions" {
		t.Errorf("got %v", err)
	}
}

func TestFunc(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		f    func(obj map[string]any) (map[string]any, error)
		what conversion.Failure
		want string
	}{
		"panics": {func(map[string]any) (map[string]any, error) { panic("oh") }, conversion.Panicked, "failed: the converter panicked: oh"},
		"fails":  {func(map[string]any) (map[string]any, error) { return nil, errors.New("no") }, conversion.Failed, "failed: no"},
		"none":   {func(map[string]any) (map[string]any, error) { return nil, nil }, conversion.Wrong, "failed: the converter returned no object"},
		"as it was": {func(obj map[string]any) (map[string]any, error) { return obj, nil }, conversion.Wrong,
			"returned invalid object at index 0: invalid groupVersion (expected w.test/v2, received w.test/v1)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := conversion.Func(func(_ context.Context, obj map[string]any, _ string) (map[string]any, error) { return test.f(obj) })
			_, err := c.Convert(t.Context(), question())
			var failed *conversion.Error
			if !errors.As(err, &failed) || failed.Failure != test.what || failed.Text != "conversion webhook for w.test/v1, Kind=Widget "+test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}
