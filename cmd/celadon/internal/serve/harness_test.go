package serve

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	admissionv1 "k8s.io/api/admission/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/engine/admission"
)

type serving struct {
	t       testing.TB
	address string
	log     *logBuffer
	client  *http.Client
	scheme  string
	// stop acts like SIGTERM and returns the exit code.
	stop func() int
}

type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *logBuffer) records(msg string) []map[string]any {
	var out []map[string]any
	for line := range strings.Lines(b.String()) {
		var record map[string]any
		if json.Unmarshal([]byte(line), &record) == nil && record["msg"] == msg {
			out = append(out, record)
		}
	}
	return out
}

func startServe(t testing.TB, args ...string) *serving {
	t.Helper()
	s := &serving{t: t, log: &logBuffer{}, scheme: "https"}
	pool := x509.NewCertPool()
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--drain", "0s"}, args...)
	switch line := strings.Join(args, " "); {
	case strings.Contains(line, "--plain-http"):
		s.scheme = "http"
	case !strings.Contains(line, "--tls-cert"):
		dir := t.TempDir()
		pool.AddCert(writeCertificate(t, dir, "first"))
		args = append(args, "--tls-cert", filepath.Join(dir, "tls.crt"), "--tls-key", filepath.Join(dir, "tls.key"))
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, MaxIdleConnsPerHost: 64}
	s.client = &http.Client{Transport: transport}
	ctx, cancel := context.WithCancel(context.Background())
	exited := make(chan int, 1)
	go func() {
		exited <- serveArgs(ctx, s.log, args)
	}()
	s.stop = sync.OnceValue(func() int {
		transport.CloseIdleConnections()
		cancel()
		return <-exited
	})
	t.Cleanup(func() { s.stop() })
	s.await("it serves", func() bool {
		select {
		case code := <-exited:
			exited <- code
			t.Fatalf("exit code %d: %s", code, s.log)
		default:
		}
		for _, record := range s.log.records("serving") {
			s.address, _ = record["address"].(string)
		}
		return s.address != ""
	})
	return s
}

func serveArgs(ctx context.Context, out io.Writer, args []string) int {
	s := command.Streams{Stdin: strings.NewReader(""), Stdout: out, Stderr: out}.Guarded()
	var o Options
	serve := &cobra.Command{Use: "serve", Args: command.NoArguments, RunE: func(cmd *cobra.Command, _ []string) error {
		return Run(cmd.Context(), s, &o)
	}}
	o.Flags(serve.Flags())
	root := &cobra.Command{Use: "celadon", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(serve)
	return command.Execute(ctx, s, root, args)
}

// TestMain also runs celadon serve, for tests that need a process.
func TestMain(m *testing.M) {
	os.Unsetenv("GOGC") // make ci sets it for tests, but the server must need no more memory than for users
	testscript.Main(m, map[string]func(){"celadon": func() {
		os.Exit(serveArgs(context.Background(), os.Stderr, os.Args[1:]))
	}})
}

func startSet(t testing.TB) (*serving, *admission.Set) {
	t.Helper()
	set := admission.NewSet(admission.Config{})
	return startServer(t, func(log *slog.Logger) *server { return newServer(set, defaultConcurrency, log) }), set
}

func startServer(t testing.TB, build func(*slog.Logger) *server) *serving {
	t.Helper()
	s := &serving{t: t, log: &logBuffer{}, scheme: "https"}
	srv := build(slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	dir := t.TempDir()
	pool := x509.NewCertPool()
	pool.AddCert(writeCertificate(t, dir, "server"))
	cert := &certificate{certFile: filepath.Join(dir, "tls.crt"), keyFile: filepath.Join(dir, "tls.key"), server: srv}
	if _, err := cert.load(); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = listener.Addr().String()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, MaxIdleConnsPerHost: 64}
	s.client = &http.Client{Transport: transport}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- srv.run(ctx, listener, cert, 0) }()
	s.stop = sync.OnceValue(func() int {
		transport.CloseIdleConnections()
		cancel()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		return command.OK
	})
	t.Cleanup(func() { s.stop() })
	return s
}

// The timeout of await only detects a hang.
func (s *serving) await(what string, is func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("timeout while waiting until %s\n%s", what, s.log)
		}
	}
}

func (s *serving) url(path string) string { return s.scheme + "://" + s.address + path }

func (s *serving) get(path string) (code int, body string) {
	s.t.Helper()
	return s.answer(s.client.Get(s.url(path)))
}

func (s *serving) post(path, body string) (code int, text string) {
	s.t.Helper()
	return s.answer(s.client.Post(s.url(path), "application/json", strings.NewReader(body)))
}

func (s *serving) answer(res *http.Response, err error) (code int, body string) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

func (s *serving) review(path, body string) *admissionv1.AdmissionResponse {
	s.t.Helper()
	code, answer := s.post(path, body)
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal([]byte(answer), &review); code != http.StatusOK || err != nil || review.Response == nil {
		s.t.Fatalf("%d: %s", code, answer)
	}
	return review.Response
}

func cronTab(spec string) string {
	return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"42","operation":"CREATE","name":"n","namespace":"ns",
		"kind":{"group":"stable.example.com","version":"v1","kind":"CronTab"},"userInfo":{"username":"jane"},
		"object":{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"n","namespace":"ns"},"spec":` + spec + `}}}`
}

// dense returns a review with the highest known memory use for its size: each value causes an error.
func dense(values int) string {
	return cronTab(`{"schedule":"0 3 * * *","image":"a","env":[` + strings.Repeat("1,", values-1) + `1]}`)
}

const (
	goodSpec = `{"schedule":"0 3 * * *","image":"a"}`
	badSpec  = `{"schedule":"@daily","image":"a"}`
	exampleD = "../../../../examples/crontab/crd.yaml"
)

func writeCertificate(t testing.TB, dir, name string) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "tls.crt"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	write(t, filepath.Join(dir, "tls.key"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})))
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
