package serve

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

func TestServe(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--crd", exampleD)
	if r := s.review("/validate", cronTab(goodSpec)); !r.Allowed || r.UID != "42" || r.AuditAnnotations["cost"] == "" {
		t.Errorf("good: %+v", r)
	}
	r := s.review("/validate?timeout=5s", cronTab(badSpec))
	if r.Allowed || r.Result.Code != 422 || len(r.Result.Details.Causes) != 1 || r.Result.Details.Causes[0].Field != "spec.schedule" {
		t.Errorf("bad: %+v", r)
	}
	for _, path := range []string{"/validate", "/mutate"} { // both respond in the version of the request
		beta := strings.Replace(cronTab(goodSpec), "admission.k8s.io/v1", "admission.k8s.io/v1beta1", 1)
		if code, body := s.post(path, beta); code != 200 || !strings.Contains(body, `"apiVersion":"admission.k8s.io/v1beta1"`) || !strings.Contains(body, `"allowed":true`) {
			t.Errorf("v1beta1 to %s: %d %s", path, code, body)
		}
	}
	if r := s.review("/mutate", cronTab(goodSpec)); !r.Allowed || !strings.Contains(string(r.Patch), "/spec/replicas") {
		t.Errorf("mutate: %+v", r)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if code, body := s.get(path); code != 200 || body != "ok\n" {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	rejected := s.log.records("refused")
	if len(rejected) != 1 || rejected[0]["user"] != "jane" || rejected[0]["causes"] != "FieldValueInvalid spec.schedule" || rejected[0]["allowedAnyway"] != false {
		t.Errorf("log: %v", rejected)
	}
	if strings.Contains(s.log.String(), "@daily") {
		t.Error("the log has values of objects")
	}
	if code := s.stop(); code != command.OK || len(s.log.records("stopped")) != 1 {
		t.Errorf("exit code %d\n%s", code, s.log)
	}
}

func TestServeMetrics(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--crd", exampleD, "--mode", "audit")
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
	documented := names("`(celadon_[a-z_]+)`", read(t, "../../../../docs/admission.md"))
	exported := names("# TYPE (celadon_[a-z_]+) ", text)
	if diff := cmp.Diff(documented, exported); diff != "" {
		t.Errorf("metrics on the page (-) and of the server (+):\n%s", diff)
	}
}

func names(pattern, text string) []string {
	var out []string
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		out = append(out, match[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestServeModes(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--crd", exampleD, "--mode", "warn", "--plain-http")
	r := s.review("/validate", cronTab(badSpec))
	if want := `celadon would reject this: spec.schedule: Invalid value: "@daily": must have five fields`; !r.Allowed || fmt.Sprint(r.Warnings) != "["+want+"]" {
		t.Errorf("warn: %+v", r)
	}
	s = startServe(t, "--crd", exampleD, "--unknown-crd", "refuse", "--plain-http")
	if r := s.review("/validate", strings.ReplaceAll(cronTab(goodSpec), "CronTab", "Nobody")); r.Allowed || r.Result.Code != 403 {
		t.Errorf("unknown: %+v", r)
	}
}

func TestServeUndecided(t *testing.T) {
	t.Parallel()
	crd := filepath.Join(t.TempDir(), "crd.yaml")
	write(t, crd, strings.NewReplacer("rule: self == oldSelf", "rule: self.replace('', self).size() > 0 || true", "maxLength: 256", "").Replace(read(t, exampleD)))
	s := startServe(t, "--crd", crd, "--unknown-crd", "allow")
	large := cronTab(`{"schedule":"0 3 * * *","image":"` + strings.Repeat("a", 100_000) + `"}`)
	if r := s.review("/validate", large); r.Allowed || r.Result.Code != 504 || !strings.Contains(r.Result.Message, "spec.image") {
		t.Errorf("got %+v", r)
	}
	if r := s.review("/validate", cronTab(goodSpec)); !r.Allowed {
		t.Errorf("another object: %+v", r)
	}
	_, text := s.get("/metrics")
	if want := `celadon_admission_requests_total{kind="CronTab.stable.example.com",path="validate",verdict="undecided"} 1`; !strings.Contains(text, want) {
		t.Errorf("no %s", want)
	}
	if records := s.log.records("undecided"); len(records) != 1 || records[0]["user"] != "jane" || !strings.Contains(records[0]["reason"].(string), "call of replace") {
		t.Errorf("log: %v", records)
	}
}

func TestServeTLS(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--crd", exampleD)
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

func TestServeDrains(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, log := testServer(1)
		network := make(pipes)
		client := &http.Client{Transport: &http.Transport{DialContext: network.dial}}
		ctx, terminate := context.WithCancel(t.Context())
		stopped := make(chan error, 1)
		go func() { stopped <- s.run(ctx, network, nil, time.Second) }()
		body, send := io.Pipe()
		answered := make(chan string, 1)
		go func() { answered <- statusOf(client.Post("http://server/validate", "application/json", body)) }()
		synctest.Wait() // until the server waits for the body
		start := time.Now()
		terminate()
		synctest.Wait()
		if got := statusOf(client.Get("http://server/readyz")); got != "503 Service Unavailable" || len(log.records("draining")) != 1 {
			t.Errorf("/readyz: got %s", got)
		}
		time.Sleep(1500 * time.Millisecond) // longer than draining
		select {
		case err := <-stopped:
			t.Errorf("stopped before the open request is answered: %v", err)
		default:
		}
		_, _ = io.WriteString(send, cronTab(goodSpec))
		send.Close()
		if got := <-answered; got != "200 OK" {
			t.Errorf("the open request got %s", got)
		}
		client.CloseIdleConnections()
		if err := <-stopped; err != nil || time.Since(start) > 4*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

func statusOf(res *http.Response, err error) string {
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	return res.Status
}

type pipes chan net.Conn

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	p <- theirs
	return ours, nil
}

func (p pipes) Accept() (net.Conn, error) {
	if conn, ok := <-p; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error { close(p); return nil }

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

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
		"stdin":           {"--crd -", "can be watched"},
		"no certificate":  {"--crd x", "no certificate given"},
		"both":            {"--crd x --plain-http --tls-cert x", "want only one of them"},
		"client CA too":   {"--crd x --plain-http --client-ca x", "want only one of them"},
		"client CA":       {"--crd " + exampleD + " --tls-key k --tls-cert c --client-ca " + dir + "/tls.crt", "has no certificate in PEM"},
		"remove after":    {"--crd x --plain-http --remove-after -1s", "want 0 or more"},
		"not loopback":    {"--crd x --plain-http --listen 0.0.0.0:1", "want a loopback address"},
		"every interface": {"--crd x --plain-http --listen :1", "want a loopback address"},
		"no port":         {"--crd x --plain-http --listen 127.0.0.1", "--listen: "},
		"mode":            {"--crd x --mode loud", "want enforce, warn, or audit"},
		"unknown":         {"--crd x --unknown-crd x", "want allow or refuse"},
		"version":         {"--crd x --kube-version x", "--kube-version: "},
		"concurrency":     {"--crd x --plain-http --max-concurrent 0", "want at least 1"},
		"no such folder":  {"--crd " + dir + "/none --plain-http", "no such file"},
		"rule is broken":  {"--crd " + dir + " --plain-http --listen 127.0.0.1:0", "undefined field 'replica'"},
		"certificate":     {"--crd " + exampleD + " --listen 127.0.0.1:0 --tls-key k --tls-cert " + dir + "/tls.crt", "--tls-cert "},
		"address":         {"--crd " + exampleD + " --plain-http --listen 127.0.0.1:x", "cannot listen"},
		"positional":      {"x", `"x": celadon serve takes no arguments`},
	} {
		var out bytes.Buffer
		args := strings.Fields("serve " + c.args)
		if !strings.Contains(c.args, "--listen") {
			args = append(args, "--listen", "127.0.0.1:0")
		}
		if code := serveArgs(t.Context(), &out, args); code != command.Usage || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: exit code %d, %s, want %q", name, code, &out, c.want)
		}
	}
}
