package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestServe(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--crds", exampleD)
	if r := s.review("/validate", cronTab(goodSpec)); !r.Allowed || r.UID != "42" || r.AuditAnnotations["cost"] == "" {
		t.Errorf("good: %+v", r)
	}
	r := s.review("/validate?timeout=5s", cronTab(badSpec))
	if r.Allowed || r.Result.Code != 422 || len(r.Result.Details.Causes) != 1 || r.Result.Details.Causes[0].Field != "spec.schedule" {
		t.Errorf("bad: %+v", r)
	}
	if r := s.review("/mutate", cronTab(goodSpec)); !r.Allowed || !strings.Contains(string(r.Patch), "/spec/replicas") {
		t.Errorf("mutate: %+v", r)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if code, body := s.get(path); code != 200 || body != "ok\n" {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	refused := s.log.records("refused")
	if len(refused) != 1 || refused[0]["user"] != "jane" || refused[0]["causes"] != "FieldValueInvalid spec.schedule" || refused[0]["allowedAnyway"] != false {
		t.Errorf("log: %v", refused)
	}
	if strings.Contains(s.log.String(), "@daily") {
		t.Error("the log has values of objects")
	}
	if code := s.stop(); code != exitOK || len(s.log.records("stopped")) != 1 {
		t.Errorf("exit code %d\n%s", code, s.log)
	}
}

func TestServeMetrics(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--crds", exampleD, "--mode", "audit")
	s.review("/validate", cronTab(goodSpec))
	if r := s.review("/validate", cronTab(badSpec)); !r.Allowed || r.Warnings != nil {
		t.Errorf("audit: %+v", r)
	}
	s.review("/validate", strings.ReplaceAll(cronTab(goodSpec), "CronTab", "Nobody"))
	s.post("/validate", "{")
	_, text := s.get("/metrics")
	const kind = `kind="CronTab.stable.example.com"`
	for _, want := range []string{
		`celadon_admission_requests_total{` + kind + `,path="validate",verdict="allowed"} 1`,
		`celadon_admission_requests_total{` + kind + `,path="validate",verdict="refused"} 1`,
		`celadon_admission_requests_total{kind="other",path="validate",verdict="notChecked"} 1`,
		`celadon_http_request_duration_seconds_count{code="200",path="validate"} 3`,
		`celadon_http_request_duration_seconds_count{code="400",path="validate"} 1`,
		`celadon_cel_cost_units_count{` + kind + `} 2`,
		`celadon_rule_refusals_total{crd="crontabs.stable.example.com",index="0",path="spec.schedule",version="v1"} 1`,
		"celadon_crds 1", "celadon_panics_total 0", "celadon_crd_compile_errors_total 0", "celadon_crd_problems 0",
		"celadon_certificate_expiry_timestamp_seconds", "go_goroutines",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, name := range regexp.MustCompile("`(celadon_[a-z_]+)`").FindAllStringSubmatch(read(t, "../../docs/admission.md"), -1) {
		if !strings.Contains(text, "\n"+name[1]) {
			t.Errorf("the page tells of %s, which is not there", name[1])
		}
	}
}

func TestServeModes(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--crds", exampleD, "--mode", "warn", "--plain-http")
	r := s.review("/validate", cronTab(badSpec))
	if want := `celadon would refuse this: spec.schedule: Invalid value: "@daily": must have five fields`; !r.Allowed || fmt.Sprint(r.Warnings) != "["+want+"]" {
		t.Errorf("warn: %+v", r)
	}
	s = startServe(t, "--crds", exampleD, "--unknown-crd", "refuse", "--plain-http")
	if r := s.review("/validate", strings.ReplaceAll(cronTab(goodSpec), "CronTab", "Nobody")); r.Allowed || r.Result.Code != 403 {
		t.Errorf("unknown: %+v", r)
	}
}

// TestServeTLS: nothing below TLS 1.2, no HTTP/2, no plain HTTP.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--crds", exampleD)
	old := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	if conn, err := tls.Dial("tcp", s.address, old); err == nil {
		conn.Close()
		t.Error("TLS 1.1 is accepted")
	}
	conn, err := tls.Dial("tcp", s.address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.ConnectionState().NegotiatedProtocol; got != "http/1.1" {
		t.Errorf("protocol %q", got)
	}
	s.scheme = "http"
	if code, err := s.client.Get(s.url("/healthz")); err == nil && code.StatusCode == http.StatusOK {
		t.Error("plain HTTP is answered")
	}
}

// TestServeDrains: an open request is answered after SIGTERM, and /readyz says
// that no more should come.
func TestServeDrains(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--crds", exampleD, "--plain-http", "--drain", "500ms")
	body, send := io.Pipe()
	answered := make(chan string, 1)
	go func() {
		res, err := s.client.Post(s.url("/validate"), "application/json", body)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer res.Body.Close()
		answered <- res.Status
	}()
	_, _ = io.WriteString(send, " ") // the request is on its way
	stopped := make(chan int, 1)
	go func() { stopped <- s.stop() }()
	s.await("it drains", func() bool { return len(s.log.records("draining")) > 0 })
	if code, _ := s.get("/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("/readyz says %d", code)
	}
	_, _ = io.WriteString(send, cronTab(goodSpec))
	send.Close()
	if got := <-answered; got != "200 OK" {
		t.Errorf("the open request got %s", got)
	}
	if code := <-stopped; code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestServeUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "broken.yaml"), strings.Replace(read(t, exampleD), "self.replicas <=", "self.replica <=", 1))
	write(t, filepath.Join(dir, "tls.crt"), "none")
	for name, c := range map[string]struct {
		args string
		want string
	}{
		"no CRDs":         {"--plain-http", "no CRDs given"},
		"stdin":           {"--crds -", "can be watched"},
		"no certificate":  {"--crds x", "no certificate given"},
		"both":            {"--crds x --plain-http --tls-cert x", "want one of them"},
		"not loopback":    {"--crds x --plain-http --listen 0.0.0.0:1", "want a loopback address"},
		"every interface": {"--crds x --plain-http --listen :1", "want a loopback address"},
		"no port":         {"--crds x --plain-http --listen 127.0.0.1", "--listen: "},
		"mode":            {"--crds x --mode loud", "want enforce, warn or audit"},
		"unknown":         {"--crds x --unknown-crd x", "want allow or refuse"},
		"version":         {"--crds x --kube-version x", "--kube-version: "},
		"concurrency":     {"--crds x --plain-http --max-concurrent 0", "want at least 1"},
		"no such folder":  {"--crds " + dir + "/none --plain-http", "no such file"},
		"rule is broken":  {"--crds " + dir + " --plain-http --listen 127.0.0.1:0", "undefined field 'replica'"},
		"certificate":     {"--crds " + exampleD + " --listen 127.0.0.1:0 --tls-key k --tls-cert " + dir + "/tls.crt", "certificate "},
		"address":         {"--crds " + exampleD + " --plain-http --listen 127.0.0.1:x", "cannot listen"},
		"positional":      {"x", "unknown command"},
	} {
		var out bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &out}
		args := strings.Fields("serve " + c.args)
		if !strings.Contains(c.args, "--listen") {
			args = append(args, "--listen", "127.0.0.1:0")
		}
		if code := a.run(t.Context(), args); code != exitUsage || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: exit code %d, %s, want %q", name, code, &out, c.want)
		}
	}
}
