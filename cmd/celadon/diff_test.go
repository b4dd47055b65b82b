package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xeipuuv/gojsonschema"
)

func TestDiffReportSchema(t *testing.T) {
	t.Parallel()
	schema, err := os.ReadFile("../../docs/diff-report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	const next = "../../examples/crontab-next/crd.yaml"
	scope := filepath.Join(t.TempDir(), "scope.yaml")
	text, err := os.ReadFile(next)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(scope, bytes.Replace(text, []byte("scope: Namespaced"), []byte("scope: Cluster"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"next":     {crontabCRD, next},
		"back":     {next, crontabCRD},
		"same":     {crontabCRD, crontabCRD},
		"refused":  {crontabCRD, scope},
		"objects":  {"--objects", "../../examples/crontab/objects/good.yaml", crontabCRD, next},
		"folders":  {"../../examples/crontab", "../../examples/costly"},
		"versions": {"testdata/diff/beta.yaml", "testdata/diff/both.yaml"},
		"upgrade":  {"--kube-version", "1.28", "--to-kube-version", "1.37", "../../examples/crontab", "../../examples/costly"},
	} {
		var out, stderr bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &stderr}
		a.run(t.Context(), append([]string{"diff", "--no-config", "-o", "json"}, args...))
		result, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(schema), gojsonschema.NewBytesLoader(out.Bytes()))
		if err != nil {
			t.Errorf("%s: %v: %s%s", name, err, &out, &stderr)
			continue
		}
		for _, e := range result.Errors() {
			t.Errorf("%s: %s in:\n%s", name, e, &out)
		}
	}
}

func TestDiffBase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	read := func(file string) string {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	const allowed = "allow:\n- {crd: crontabs.stable.example.com, path: spec.image, what: rule, reason: agreed}\n"
	plant(t, dir, map[string]string{"crds/crd.yaml": read(crontabCRD), "allow.yaml": allowed})
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "base")
	plant(t, dir, map[string]string{
		"crds/crd.yaml": read("../../examples/crontab-next/crd.yaml"),
		"allow.yaml":    allowed + "- {crd: crontabs.stable.example.com, path: spec.suspended, what: field, reason: says the change}\n",
	})
	crds, allow := filepath.Join(dir, "crds"), filepath.Join(dir, "allow.yaml")
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{crds}, 1, []string{"crd.yaml at HEAD:43 and ", "2 changes break"}},
		{[]string{"--allow", allow, crds}, 1, []string{"spec.image: rule: breaks, which is allowed", "spec.suspended: field: breaks\n", "1 change breaks, 1 is allowed"}},
		{[]string{filepath.Join(dir, "nothing")}, 2, []string{"no such file"}},
		{[]string{"--allow", filepath.Join(dir, "none.yaml"), crds}, 2, []string{"the file does not exist at HEAD"}},
	} {
		var out bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &out}
		if code := a.run(t.Context(), append([]string{"diff", "--no-config", "--base", "HEAD"}, c.args...)); code != c.code {
			t.Errorf("%v: code %d, want %d: %s", c.args, code, c.code, &out)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%v: want %q in:\n%s", c.args, want, &out)
			}
		}
	}
}
