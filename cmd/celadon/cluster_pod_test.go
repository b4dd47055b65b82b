//go:build linux

package main

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/clustertest"
)

// The paths of the service account files are fixed, so the command gets its own /run.
func TestClusterPod(t *testing.T) {
	const own = "unshare --user --map-root-user --mount sh -ec "
	shell := strings.Fields(own)
	if out, err := exec.CommandContext(t.Context(), shell[0], append(shell[1:], "mount -t tmpfs none /run; test /run -ef /var/run")...).CombinedOutput(); err != nil {
		t.Skipf("no file systems of our own here: %v %s", err, out)
	}
	s, ca, address := clustertest.StartTLS(t)
	s.Define(t, []byte(attackCRD), 1, func(int) string {
		return `{"apiVersion":"g.io/v1","kind":"T","metadata":{"name":"a","namespace":"d"},"spec":{}}`
	})
	tokens := map[string]bool{}
	s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		tokens[r.Header.Get("Authorization")] = true
		return false
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"ca.crt": string(ca), "token": "of-the-pod", "namespace": "d"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	const script = `mount -t tmpfs none /run
to=/var/run/secrets/kubernetes.io
mkdir -p $to
cp -r "$0" $to/serviceaccount
exec celadon check --cluster -A`
	cmd := exec.CommandContext(t.Context(), shell[0], append(shell[1:], script, dir)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG=", "HOME="+dir, "KUBERNETES_SERVICE_HOST="+host, "KUBERNETES_SERVICE_PORT="+port)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "1 object checked: 1 valid") || !strings.Contains(string(out), "the cluster of this pod") {
		t.Errorf("%v\n%s", err, out)
	}
	if len(tokens) != 1 || !tokens["Bearer of-the-pod"] {
		t.Errorf("tokens %v", tokens)
	}
}
