package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const (
	startWithin = 3 * time.Minute
	adminToken  = "admin-of-this-test"
	viewerToken = "viewer-of-this-test" // the user's permissions depend on the test's roles
	auditPolicy = `{"apiVersion":"audit.k8s.io/v1","kind":"Policy","omitStages":["RequestReceived"],"rules":[{"level":"Metadata"}]}`
)

// plane is a control plane: an API server and its etcd, two processes that listen on loopback, and
// their folder. It has no kubelet, and only the controllers that a test starts.
type plane struct {
	t      *testing.T
	dir    string
	host   string // a loopback address that only this plane uses
	server string // URL of the API server
	config string // path of the administrator's kubeconfig
	client *http.Client
}

// start starts a plane, which stops at the end of the test. The API server stops first, because it
// waits long for an etcd that is gone. The binaries, including celadon, are in the folder
// CELADON_KUBE. The flags are more flags of the API server.
func start(t *testing.T, flags ...string) *plane {
	t.Helper()
	return startWithAccounts(t, append(flags, "--disable-admission-plugins=ServiceAccount")...)
}

// startWithAccounts is like start, but Pods need a ServiceAccount, which no controller creates.
func startWithAccounts(t *testing.T, flags ...string) *plane {
	t.Helper()
	if os.Getenv("CELADON_KUBE") == "" {
		t.Skip("CELADON_KUBE names no folder with kube-apiserver, etcd, kubectl and celadon: make -C conformance e2e")
	}
	p := &plane{t: t, dir: t.TempDir(), host: ownHost(), client: clientOf(nil)}
	p.server = "https://" + p.host + ":6443"
	store, neighbours := "http://"+p.host+":2379", "http://"+p.host+":2380"
	p.run("etcd", "--data-dir", p.path("etcd"), "--unsafe-no-fsync", "--log-level=error", "--quota-backend-bytes=536870912", // etcd maps this many bytes
		"--listen-client-urls", store, "--advertise-client-urls", store,
		"--listen-peer-urls", neighbours, "--initial-advertise-peer-urls", neighbours, "--initial-cluster", "default="+neighbours)
	p.write("tokens.csv", adminToken+",admin,admin,system:masters\n"+viewerToken+",viewer,viewer\n")
	p.write("audit.json", auditPolicy)
	p.write("accounts.key", string(newKey(t)))
	p.run("kube-apiserver", append([]string{"--etcd-servers", store, "--cert-dir", p.path("certs"), "--bind-address", p.host, "--secure-port=6443",
		"--token-auth-file", p.path("tokens.csv"), "--authorization-mode=RBAC", "--allow-privileged", "--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://celadon.test", "--service-account-key-file", p.path("accounts.key"), "--service-account-signing-key-file", p.path("accounts.key"),
		"--audit-policy-file", p.path("audit.json"), "--audit-log-path", p.path("audit.log"), "--audit-log-mode=blocking-strict",
	}, flags...)...)
	p.config = p.write("kubeconfig", kubeconfig(p.server, adminToken))
	p.until("the API server is ready", startWithin, func() error {
		code, body, err := p.try(http.MethodGet, "/readyz", "")
		if err == nil && code != http.StatusOK {
			err = fmt.Errorf("%d: %s", code, body)
		}
		return err
	})
	return p
}

func kubeconfig(server, token string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"test",
		"contexts":[{"name":"test","context":{"cluster":"test","user":"test"}}],
		"clusters":[{"name":"test","cluster":{"server":%q,"insecure-skip-tls-verify":true}}],
		"users":[{"name":"test","user":{"token":%q}}]}`, server, token)
}

func (p *plane) path(name string) string { return filepath.Join(p.dir, name) }

func (p *plane) write(name, text string) string {
	p.t.Helper()
	if err := os.WriteFile(p.path(name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return p.path(name)
}

func binary(name string) string { return filepath.Join(os.Getenv("CELADON_KUBE"), name) }

func (p *plane) run(name string, args ...string) {
	p.t.Helper()
	log, err := os.Create(p.path(name + ".log"))
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(binary(name), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, log, log
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if text, err := os.ReadFile(log.Name()); err == nil && p.t.Failed() {
			p.t.Logf("last output of %s:\n%s", name, text[max(0, len(text)-2000):])
		}
		_ = cmd.Process.Signal(os.Interrupt)
		late := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		late.Stop()
		log.Close()
	})
}

func (p *plane) until(what string, within time.Duration, done func() error) {
	p.t.Helper()
	err := errors.New("not asked")
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err = done(); err == nil {
			return
		}
	}
	p.t.Fatalf("not within %s: %s: %v", within, what, err)
}

type answer struct {
	Code     int
	Body     map[string]any
	Warnings []string
}

// causes returns the causes of a rejection, in the form "reason field message".
func (a answer) causes() []string {
	details, _ := a.Body["details"].(map[string]any)
	list, _ := details["causes"].([]any)
	var all []string
	for _, c := range list {
		c, _ := c.(map[string]any)
		all = append(all, fmt.Sprint(c["reason"], " ", c["field"], " ", c["message"]))
	}
	return all
}

func (a answer) message() string { text, _ := a.Body["message"].(string); return text }

func (p *plane) do(method, path, body string) answer {
	p.t.Helper()
	resp, err := p.send(method, path, body)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	a := answer{Code: resp.StatusCode, Warnings: resp.Header.Values("Warning")}
	if err := json.NewDecoder(resp.Body).Decode(&a.Body); err != nil {
		p.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

func (p *plane) try(method, path, body string) (int, string, error) {
	resp, err := p.send(method, path, body)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

func (p *plane) send(method, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(context.Background(), method, p.server+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	if strings.HasSuffix(path, asTable) {
		req.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	}
	return p.client.Do(req)
}

// asTable is the end of paths that are requested as tables.
const asTable = "?includeObject=None"

func (p *plane) kubectl(stdin string, args ...string) (out string, code int) {
	p.t.Helper()
	return p.command(stdin, binary("kubectl"), args...)
}

func (p *plane) celadon(stdin string, args ...string) (out string, code int) {
	p.t.Helper()
	return p.command(stdin, binary("celadon"), args...)
}

// command runs a command. It returns its standard output followed by its standard error, and the
// exit code.
func (p *plane) command(stdin, name string, args ...string) (string, int) {
	p.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.dir, strings.NewReader(stdin), &stdout, &stderr
	cmd.Env = append(os.Environ(), "KUBECONFIG="+p.config, "HOME="+p.dir, "PATH="+os.Getenv("CELADON_KUBE")+":"+os.Getenv("PATH"))
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return stdout.String() + stderr.String(), cmd.ProcessState.ExitCode()
}

func (p *plane) apply(files ...string) {
	p.t.Helper()
	args := []string{"apply", "--server-side"}
	for _, f := range files {
		args = append(args, "-f", absolute(p.t, f))
	}
	if out, code := p.kubectl("", args...); code != 0 {
		p.t.Fatalf("kubectl %v ends with %d: %s", args, code, out)
	}
}

func (p *plane) define(file, name, path string) {
	p.t.Helper()
	p.apply(file)
	p.until(name+" is served", startWithin, func() error {
		code, body, err := p.try(http.MethodGet, path, "")
		if err == nil && code != http.StatusOK {
			err = fmt.Errorf("%d: %s", code, body)
		}
		return err
	})
}

var planes atomic.Uint32

// ownHost returns a loopback address that is unique to this process and plane. Free ports would not
// be reliable, because another process could take a port before it is used.
func ownHost() string {
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d", 64+(pid>>15+int(planes.Add(1)))%128, pid>>7&0xff, 1+pid&0x7f)
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
