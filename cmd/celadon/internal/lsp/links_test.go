//go:build unix

package lsp

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAttackSuiteLinks(t *testing.T) {
	t.Parallel()
	const secret = "TopSecret"
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.yaml"), []byte("a: ["+secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := start(t, nil, map[string]string{"crds/crd.yaml": example(t, "crontab/crd.yaml"), "sub/a.yaml": ""})
	if err := syscall.Mkfifo(filepath.Join(c.dir, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link.yaml": filepath.Join(outside, "secret.yaml"), "folder": outside, "zero.yaml": "/dev/zero", "loop.yaml": "loop.yaml", "self": "."} {
		if err := os.Symlink(to, filepath.Join(c.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	up, err := filepath.Rel(c.dir, filepath.Join(outside, "secret.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"pipe.yaml", "zero.yaml", "loop.yaml", "link.yaml", "folder", "folder/secret.yaml", "self/self/link.yaml", up, filepath.Join(outside, "secret.yaml"), "/dev/zero", "/dev/stdin"} {
		for _, field := range []string{"crd: '%'", "crd: crds/crd.yaml\npolicies: ['%']"} {
			suite := "apiVersion: celadon/v1\nkind: RuleTest\n" + strings.ReplaceAll(field, "%", path) +
				"\ntests:\n- name: a\n  object: {apiVersion: stable.example.com/v1, kind: CronTab, metadata: {name: a}}\n  expect: {valid: true}\n"
			got := messages(c.open("suite.yaml", suite))
			if text := strings.Join(got, "\n"); strings.Contains(text, secret) {
				t.Errorf("%s: %s", field, text)
			}
			if len(got) == 0 {
				t.Errorf("%s: %s: nothing is reported", field, path)
			}
		}
	}
	honest := c.until("a.yaml", c.open("a.yaml", strings.Replace(cronTab, "replicas: 1", "replicas: 11", 1)), 1)
	wantLines(t, honest, "7:3-11 replicas is 11, more than maxReplicas: 10")
}
