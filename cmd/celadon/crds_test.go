//go:build linux

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestNewRepository(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("kubectl is not installed")
	}
	other := strings.NewReplacer("crontabs", "shirts", "CronTab", "Shirt", "crontab", "shirt", "stable.example.com", "example.com")
	crd, err := os.ReadFile(crontabCRD)
	if err != nil {
		t.Fatal(err)
	}
	served := tree(t, map[string]string{
		"app/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n", "app/crds/crd.yaml": string(crd), "app/templates/a.yaml": "{{ .Values.x }}",
		"v1/shirts.yaml": other.Replace(string(crd)),
	})
	if out, code := in(t, served, "tar", "-czf", "app-1.0.0.tgz", "app"); code != 0 {
		t.Fatal(out)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(served)))
	defer server.Close()
	dir := tree(t, map[string]string{
		"base/kustomization.yaml": "resources: [cron.yaml, shirt.yaml]\n", "base/cron.yaml": goodCronTab, "base/shirt.yaml": other.Replace(goodCronTab),
		"overlays/prod/kustomization.yaml": "resources: [../../base]\npatches:\n- target: {kind: CronTab}\n  patch: '[{\"op\": \"add\", \"path\": \"/spec/replicas\", \"value\": 20}]'\n",
	})
	commit(t, dir)
	for _, c := range []struct {
		command string
		code    int
		want    string
	}{
		{"celadon crds add --private-addresses --dir new " + server.URL + "/app-1.0.0.tgz " + server.URL + "/v1/shirts.yaml", 0, `(?m)/app-1.0.0.tgz: 1 CRD$`},
		{"celadon check --crd new --kustomize overlays/prod", 1, `(?s)The CronTab "\w+" is invalid.*--> base/cron.yaml:.*2 objects checked: 1 valid, 1 invalid`},
		{"celadon check --crd new --kustomize overlays/prod -q -o markdown=comment.md", 1, ""},
	} {
		out, code := in(t, dir, "sh", "-c", "ulimit -t 10 && exec "+c.command)
		if code != c.code || !regexp.MustCompile(c.want).MatchString(out) {
			t.Errorf("%s: exit code %d: %s", c.command, code, out)
		}
	}
	comment, err := os.ReadFile(filepath.Join(dir, "comment.md"))
	if want := regexp.MustCompile(`(?s)base/cron.yaml.*spec.replicas`); err != nil || !want.Match(comment) {
		t.Errorf("%v: %s", err, comment)
	}
}
