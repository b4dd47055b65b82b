package lsp

import (
	"strings"
	"testing"
)

// TestBuiltin checks that objects of built-in kinds have the findings of the API server, and that a patch has
// no findings.
func TestBuiltin(t *testing.T) {
	t.Parallel()
	patch := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}\n"
	c := start(t, nil, map[string]string{"deploy/kustomization.yaml": "patches: [{path: patch.yaml}]\n", "deploy/patch.yaml": patch})
	got := c.open("web.yaml", `apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  ports: [{port: 80000}]
`)
	if len(got) == 0 || got[0].Range.Start.Line != 4 || !strings.Contains(got[0].Message, "must be between 1 and 65535") {
		t.Errorf("got %+v", got)
	}
	if got := c.open("deploy/patch.yaml", patch); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
	got = c.open("old.yaml", "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: a}\n")
	if len(got) != 1 || !strings.Contains(got[0].Message, "removed in Kubernetes 1.25: use batch/v1") {
		t.Errorf("got %+v", got)
	}
}
