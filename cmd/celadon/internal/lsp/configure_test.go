package lsp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/types"
)

func definition(kind, spec string) string {
	name := strings.ToLower(kind)
	return strings.NewReplacer("KIND", kind, "NAME", name, "SPEC", strings.ReplaceAll(spec, "\n", "\n                ")).Replace(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: NAMEs.example.com
spec:
  group: example.com
  names: {kind: KIND, plural: NAMEs, singular: NAME, listKind: KINDList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
                SPEC
`)
}

// newer is a CRD with a rule that Kubernetes 1.28 rejects.
var newer = definition("Host", `address:
  type: string
  maxLength: 40
  x-kubernetes-validations:
  - rule: isIP(self)`)

// As in CI, a kube-version older than the default is ignored. The editor's settings have precedence.
func TestConfigFile(t *testing.T) {
	t.Parallel()
	const old = "check: {kube-version: '1.28'}\nvet: {kube-version: '1.28'}\n"
	c := start(t, nil, map[string]string{config.Name: old, "crd.yaml": newer})
	object := "apiVersion: example.com/v1\nkind: Host\nmetadata: {name: a}\nspec: {address: nowhere}\n"
	wantLines(t, c.open("crd.yaml", newer))
	c.until("a.yaml", c.open("a.yaml", object), 1)
	setting := func(version string) int {
		seen := c.seen()
		c.tell("workspace/didChangeConfiguration", map[string]any{"settings": map[string]any{"celadon": map[string]any{"kubeVersion": version}}})
		return seen
	}
	seen := setting("1.28")
	const before = "24:27-31 "
	if got := strings.Join(messages(c.until("crd.yaml", c.next("crd.yaml", seen), 1)), "\n"); !strings.HasPrefix(got, before) || !strings.Contains(got, "unknown name isIP") {
		t.Errorf("Kubernetes 1.28 takes isIP: %s", got)
	}
	seen = setting("")
	c.until("crd.yaml", c.next("crd.yaml", seen), 0)

	newest := strings.ReplaceAll(old, "1.28", types.Version{Minor: types.Newest}.String())
	if err := os.WriteFile(filepath.Join(c.dir, config.Name), []byte(newest), 0o600); err != nil {
		t.Fatal(err)
	}
	seen = c.seen()
	c.tell("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": c.uri(config.Name), "type": 2}}})
	c.until("crd.yaml", c.next("crd.yaml", seen), 0)
	c.until("a.yaml", c.next("a.yaml", seen), 1)
}

func TestConfigFileHostile(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"broken": "check: {", "number": "vet: {kube-version: 1.30}", "unknown": "check: {kube-version: '0.1'}\nvet: {kube-version: '0.1'}",
		"list": "[]", "many": "vet: {kube-version: ['1.28', '1.29']}", "no setting": "vet: {kubeversion: '1.28'}", "large": "vet: {kube-version: '1.28'}\n#" + strings.Repeat("x", config.Most),
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, nil, map[string]string{config.Name: text})
			wantLines(t, c.open("crd.yaml", newer))
		})
	}
	t.Run("link", func(t *testing.T) {
		outside := filepath.Join(t.TempDir(), "there.yaml")
		if err := os.WriteFile(outside, []byte("vet: {kube-version: '1.28'}"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := start(t, nil, nil)
		if err := os.Symlink(outside, filepath.Join(c.dir, config.Name)); err != nil {
			t.Skip("no links here")
		}
		c.tell("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": c.uri(config.Name), "type": 1}}})
		wantLines(t, c.open("crd.yaml", newer))
	})
}

func TestConfigFolders(t *testing.T) {
	t.Parallel()
	const old = "check: {kube-version: '1.28'}\nvet: {kube-version: '1.28'}\n"
	c := start(t, map[string]any{"kubeVersion": 1.29}, map[string]string{config.Name: old}) // a number is not valid
	c.until("crd.yaml", c.open("crd.yaml", newer), 0)
	if err := os.WriteFile(filepath.Join(c.dir, config.Name), []byte("check: {kube-ver"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.tell("textDocument/didSave", protocol.Params{TextDocument: protocol.TextDocument{URI: c.uri(config.Name)}})
	c.until("crd.yaml", c.change("crd.yaml", protocol.Change{Text: newer + "# a half-written file counts for nothing\n"}), 0)
}

func TestSettings(t *testing.T) {
	t.Parallel()
	before := settings{KubeVersion: "1.33", NoLint: []string{"a"}}
	for data, want := range map[string]string{
		``: "{1.33 [a] false}", `null`: "{1.33 [a] false}", `{"other":1}`: "{1.33 [a] false}", `{"celadon":null}`: "{1.33 [a] false}",
		`{"noLint":["b"]}`: "{1.33 [b] false}", `{"celadon":{"trusted":true},"kubeVersion":"1.30"}`: "{1.33 [a] true}",
	} {
		now, err := before.with([]byte(data))
		if got := fmt.Sprint(now); err != nil || got != want {
			t.Errorf("%s: %s, want %s (%v)", data, got, want, err)
		}
		if before.NoLint[0] != "a" {
			t.Fatalf("%s changes the earlier settings", data)
		}
	}
	if _, err := before.with([]byte("7")); err == nil {
		t.Error("a number is accepted")
	}
}
