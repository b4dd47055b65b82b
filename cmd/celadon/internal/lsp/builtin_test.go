package lsp

import (
	"strings"
	"testing"
)

func TestBuiltin(t *testing.T) {
	t.Parallel()
	patch := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}\n"
	custom := "apiVersion: stable.example.com/v1\nkind: CronTab\nmetadata: {name: a}\nspec: {replicas: 3}\n"
	c := start(t, nil, map[string]string{
		"deploy/kustomization.yaml": "patches: [{path: patch.yaml}, {path: custom.yaml}]\n",
		"deploy/patch.yaml":         patch, "deploy/custom.yaml": custom,
	})
	got := c.open("web.yaml", `apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  ports: [{port: 80000}]
`)
	if len(got) == 0 || got[0].Range.Start.Line != 4 || !strings.Contains(got[0].Message, "must be between 1 and 65535") {
		t.Errorf("got %+v", got)
	}
	c.open("crd.yaml", example(t, "crontab/crd.yaml"))
	if got := c.open("other.yaml", custom); len(got) == 0 {
		t.Error("an incomplete custom resource has no findings")
	}
	for name, text := range map[string]string{"deploy/patch.yaml": patch, "deploy/custom.yaml": custom} {
		if got := c.open(name, text); len(got) != 0 {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	got = c.open("old.yaml", "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: a}\n")
	if len(got) != 1 || !strings.Contains(got[0].Message, "removed in Kubernetes 1.25: use batch/v1") {
		t.Errorf("got %+v", got)
	}
}
