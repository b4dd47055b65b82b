package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/engine/admission"
)

func TestServeBadInput(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--crd", exampleD)
	good := cronTab(goodSpec)
	json := "application/json"
	for name, c := range map[string]struct {
		method, path, contentType, body string
		code                            int
		want                            string
	}{
		"not JSON":         {"POST", "/validate", json, "spec: {}", 400, "not an admission request: "},
		"empty":            {"POST", "/validate", json, "", 400, "not an admission request: "},
		"cut off":          {"POST", "/validate", json, good[:100], 400, "not an admission request: "},
		"two values":       {"POST", "/validate", json, good + good, 400, "not an admission request: "},
		"a list":           {"POST", "/validate", json, "[]", 400, "not an admission request: "},
		"null":             {"POST", "/validate", json, "null", 400, `kind ""`},
		"wrong kind":       {"POST", "/validate", json, strings.Replace(good, "AdmissionReview", "Pod", 1), 400, `kind "Pod"`},
		"old version":      {"POST", "/validate", json, strings.Replace(good, "k8s.io/v1", "k8s.io/v1alpha1", 1), 400, "v1alpha1"},
		"no request":       {"POST", "/validate", json, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`, 400, "no request"},
		"no object":        {"POST", "/validate", json, strings.Replace(good, `"object":`, `"thing":`, 1), 400, "no object"},
		"object no object": {"POST", "/mutate", json, strings.Replace(good, `"object":{`, `"object":"x","y":{`, 1), 400, "request.object of type map"},
		"no operation":     {"POST", "/validate", json, strings.Replace(good, "CREATE", "", 1), 400, "operation"},
		"huge":             {"POST", "/validate", json, cronTab(`{"schedule":"` + strings.Repeat("a", maxBody) + `"}`), 413, "more than"},
		"too deep":         {"POST", "/validate", json, cronTab(strings.Repeat(`{"a":`, 10001) + "1" + strings.Repeat("}", 10001)), 400, "max depth"},
		"deep enough":      {"POST", "/validate", json, cronTab(strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000)), 200, "spec.schedule: Required value"},
		"wrong method":     {"GET", "/validate", "", "", 405, "want POST"},
		"put":              {"PUT", "/mutate", json, good, 405, "want POST"},
		"wrong type":       {"POST", "/validate", "application/yaml", good, 415, "want Content-Type"},
		"no type":          {"POST", "/validate", "", good, 415, "want Content-Type"},
		"charset":          {"POST", "/validate", json + "; charset=utf-8", good, 200, `"allowed":true`},
		"wrong path":       {"POST", "/validation", json, "", 404, "not found"},
		"unknown CRD":      {"POST", "/validate", json, strings.ReplaceAll(good, "CronTab", "Nobody"), 200, "not checked"},
		"invalid timeout":  {"POST", "/validate?timeout=soon", json, good, 200, `"allowed":true`},
		"metadata no map":  {"POST", "/validate", json, strings.Replace(good, `"metadata":{"name":"n","namespace":"ns"}`, `"metadata":7`, 1), 200, `"allowed":false`},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequest(c.method, s.url(c.path), strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if c.contentType != "" {
				req.Header.Set("Content-Type", c.contentType)
			}
			res, err := s.client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, _ := io.ReadAll(res.Body)
			if res.StatusCode != c.code || !strings.Contains(string(body), c.want) {
				t.Errorf("%d %.300s, want %d %s", res.StatusCode, body, c.code, c.want)
			}
			if c.code == 405 && res.Header.Get("Allow") != "POST" {
				t.Errorf("Allow: %q", res.Header.Get("Allow"))
			}
		})
	}
	if r := s.review("/validate", good); !r.Allowed {
		t.Errorf("afterwards: %+v", r)
	}
}

func TestServeOddClients(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--crd", exampleD, "--plain-http")
	good := cronTab(goodSpec)
	head := func(timeout string, length int) string {
		return fmt.Sprintf("POST /validate?timeout=%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", timeout, length)
	}
	for name, c := range map[string]struct {
		send string
		// half closes the sending side after the data
		half bool
		want int
	}{
		"slow":             {head("1s", len(good)) + good[:10], false, 408},
		"half-closed":      {head("30s", len(good)) + good, true, 200},
		"half, and closed": {head("30s", len(good)) + good[:10], true, 400},
		"header too large": {"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 2*maxHeader) + "\r\n\r\n", false, 431},
		"no HTTP":          {"hello\r\n\r\n", false, 400},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", s.address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, c.send)
			if c.half {
				_ = conn.(*net.TCPConn).CloseWrite()
			}
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.StatusCode != c.want {
				body, _ := io.ReadAll(res.Body)
				t.Errorf("%d %s, want %d", res.StatusCode, body, c.want)
			}
		})
	}
	for range 50 { // connections that are closed midway
		conn, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, head("1s", len(good))+good[:10])
		conn.Close()
	}
	s.await("all slots are free", func() bool {
		_, text := s.get("/metrics")
		return strings.Contains(text, "celadon_requests_in_flight 0")
	})
}

func testServer(concurrency int) (*server, *logBuffer) {
	log := &logBuffer{}
	return newServer(admission.NewSet(admission.Config{}), concurrency, slog.New(slog.NewJSONHandler(log, nil))), log
}

func recorded(s *server, target, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, r)
	return w
}

func TestServePanic(t *testing.T) {
	t.Parallel()
	s, log := testServer(1)
	s.validate = func(context.Context, *admissionv1.AdmissionRequest) (*admission.Decision, error) { panic("oops") }
	for range 2 { // the turn of the first request is free again
		if w := recorded(s, "/validate", cronTab(goodSpec)); w.Code != 500 || w.Body.String() != "internal error\n" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if !strings.Contains(w.Body.String(), "celadon_panics_total 2") {
		t.Error("the panics are not counted")
	}
	if records := log.records("panic, please report it"); len(records) != 2 || records[0]["panic"] != "oops" {
		t.Errorf("log: %v", records)
	}
}

func TestServeTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := testServer(1)
		finish := make(chan struct{})
		s.validate = func(ctx context.Context, _ *admissionv1.AdmissionRequest) (*admission.Decision, error) {
			<-finish
			return nil, fmt.Errorf("too late: %w", ctx.Err())
		}
		start := time.Now()
		if w := recorded(s, "/validate?timeout=100ms", cronTab(goodSpec)); w.Code != 504 || time.Since(start) != 100*time.Millisecond {
			t.Errorf("not in time: %d %s after %s", w.Code, w.Body, time.Since(start))
		}
		if w := recorded(s, "/mutate?timeout=1ms", cronTab(goodSpec)); w.Code != 503 {
			t.Errorf("without a turn: %d %s", w.Code, w.Body)
		}
		close(finish)
		if w := recorded(s, "/mutate", cronTab(goodSpec)); w.Code != 200 {
			t.Errorf("with a turn: %d %s", w.Code, w.Body)
		}
	})
	for query, want := range map[string]time.Duration{"": defaultTimeout, "?timeout=2s": 2 * time.Second, "?timeout=1h": maxTimeout, "?timeout=-1s": defaultTimeout} {
		if got := timeoutOf(httptest.NewRequest(http.MethodPost, "/validate"+query, nil)); got != want {
			t.Errorf("timeout of %q: %s, want %s", query, got, want)
		}
	}
}

func TestServeLargeBodies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := testServer(100)
		finish := make(chan struct{})
		s.validate = func(context.Context, *admissionv1.AdmissionRequest) (*admission.Decision, error) {
			<-finish
			return &admission.Decision{Response: &admissionv1.AdmissionResponse{}}, nil
		}
		large := dense(maxValues * 3 / 10)
		codes := make(chan int)
		send := func(timeout string) {
			go func() { codes <- recorded(s, "/validate?timeout="+timeout, large).Code }()
			synctest.Wait()
		}
		for _, timeout := range []string{"1s", "30s", "30s", "2s", "30s"} { // three are decided
			send(timeout)
		}
		if w := recorded(s, "/mutate", cronTab(goodSpec)); w.Code != 200 {
			t.Errorf("a small one: %d %s", w.Code, w.Body)
		}
		if code := <-codes; code != 504 {
			t.Errorf("the first: %d", code)
		}
		if code := <-codes; code != 503 {
			t.Errorf("the fourth, without a turn: %d", code)
		}
		close(finish)
		for range 3 {
			if code := <-codes; code != 200 {
				t.Errorf("the others: %d", code)
			}
		}
		if !s.limits.large.memory.TryAcquire(largeMemory) || !s.limits.small.memory.TryAcquire(smallMemory) || !s.limits.large.number.TryAcquire(100) {
			t.Error("something is still held")
		}
	})
}

func TestServeUnread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := testServer(1)
		network := make(pipes)
		ctx, terminate := context.WithCancel(t.Context())
		stopped := make(chan error, 1)
		go func() { stopped <- s.run(ctx, network, nil, 0) }()
		for request, want := range map[string]int{
			"POST /validate HTTP/1.1\r\nContent-Type: text/plain":       415,
			"POST /validation HTTP/1.1\r\nContent-Type: text/plain":     413,
			"GET /healthz HTTP/1.1\r\nContent-Type: text/plain":         413,
			"GET /metrics HTTP/1.1\r\nContent-Type: text/plain":         413,
			"POST /validate HTTP/1.1\r\nContent-Type: application/json": 408,
		} {
			start := time.Now()
			conn, _ := network.dial(ctx, "", "")
			_, _ = io.WriteString(conn, request+"\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || res.StatusCode != want || time.Since(start) > transferTimeout {
				t.Errorf("%s: %v, %v after %s", request, res, err, time.Since(start))
			}
			conn.Close()
		}
		terminate()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
}

func TestServeBug(t *testing.T) {
	t.Parallel()
	s, log := testServer(1)
	s.validate = func(context.Context, *admissionv1.AdmissionRequest) (*admission.Decision, error) {
		return nil, errors.New("internal error in the engine")
	}
	if w := recorded(s, "/validate", cronTab(goodSpec)); w.Code != 500 || w.Body.String() != "internal error\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if !strings.Contains(w.Body.String(), "celadon_panics_total 1") || !strings.Contains(log.String(), "internal error in the engine") {
		t.Errorf("not counted, or not logged: %s", log)
	}
}

// The first server may start goroutines that the process keeps.
func TestServeLeavesNothing(t *testing.T) {
	before := 0
	for i := range 4 {
		if i == 1 {
			before = runtime.NumGoroutine()
		}
		s := startServe(t, "--crd", exampleD)
		s.review("/validate", cronTab(goodSpec))
		if code := s.stop(); code != command.OK {
			t.Errorf("exit code %d", code)
		}
	}
	for deadline := time.Now().Add(5 * time.Minute); runtime.NumGoroutine() > before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
