package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/celadon-cel/celadon/internal/testing/cputime"
	"github.com/celadon-cel/celadon/internal/testing/hostile"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

func goCRD(rules ...string) string {
	text := `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: apps.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: apps, kind: App}
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
            properties: {a: {type: string}}
            x-kubernetes-validations:
`
	for _, rule := range rules {
		text += fmt.Sprintf("            - rule: %q\n", rule)
	}
	return text
}

const goApp = "type App struct {\n\tTypeMeta `json:\",inline\"`\n\tSpec Spec `json:\"spec\"`\n}\n\ntype TypeMeta struct{}\n\n"

type goAttack struct {
	files map[string]string
	crd   string
	code  int
	says  []string
}

func goAttacks() map[string]goAttack {
	const rule = "has(self.a)"
	marker := func(rule string) string {
		return fmt.Sprintf("// +kubebuilder:validation:XValidation:rule=%q\n", rule)
	}
	spec := "package v1\n\n" + goApp + marker(rule) + "type Spec struct {\n\tA string `json:\"a\"`\n}\n"
	const found = "1 of 1 rule found"
	markers := 10_000
	if level.Long() {
		markers = 50_000
	}
	chain := func(n int) string {
		var b strings.Builder
		b.WriteString("package v1\n\n" + goApp + "type Spec T0\n")
		for i := range n {
			fmt.Fprintf(&b, "type T%d T%d\n", i, i+1)
		}
		fmt.Fprintf(&b, "%stype T%d struct{}\n", marker(rule), n)
		return b.String()
	}
	return map[string]goAttack{
		"files that a build runs": {map[string]string{
			"api/types.go":              "//go:generate touch PWNED\n\npackage v1\n\n/*\n#cgo LDFLAGS: -fplugin=./evil.so\n#include \"evil.h\"\n*/\nimport \"C\"\n" + strings.TrimPrefix(spec, "package v1\n"),
			"go.mod":                    "module example.com/app\n\ngo 1.26\n\ntoolchain go9.9.9-evil\n\ntool example.com/evil\n",
			"go.work":                   "go 9.9\nuse .\nuse ../../../../etc\ntoolchain go9.9.9-evil\n",
			"go.env":                    "GOFLAGS=-toolexec=touch\n",
			"vendor/example.com/x/x.go": "package x\n",
		}, goCRD(rule), 0, []string{found}},
		"links out of the tree": {map[string]string{
			"api/types.go": spec, "api/out.go -> ../../../outside.go": "", "api/dir -> ../../..": "", "config/crd/x.yaml -> /etc/passwd": "",
		}, goCRD(rule), 2, []string{"api/out.go: error unreadable: path escapes from parent", "config/crd/x.yaml: error unreadable: link: path escapes", found}},
		"syntax errors": {map[string]string{
			"api/types.go": spec, "api/bad.go": "package v1\n\ntype {\n", "api/worse.go": "\x00\xfftype", "api/empty.go": "",
		}, goCRD(rule), 2, []string{"api/bad.go:3:6: error unreadable: expected", "api/worse.go:1:1: error unreadable: ", found}},
		"line directives": {map[string]string{
			"api/types.go": strings.Replace(strings.Replace(spec, "package v1\n", "package v1\n\n//line /etc/passwd:1\n", 1), rule, "self.nope", 1),
		}, goCRD("self.nope"), 1, []string{"api/types.go:12:50: error FieldValueInvalid: rule does not compile: undefined field 'nope'", found}},
		"types of themselves": {map[string]string{
			"api/types.go": "package v1\n\n" + goApp + marker(rule) + "type Spec struct {\n\tSpec `json:\",inline\"`\n\tLoop `json:\",inline\"`\n\tA Knot `json:\"a\"`\n}\ntype Loop = Pool\ntype Pool = Loop\ntype Knot Knot\n",
		}, goCRD(rule), 0, []string{found}},
		"a chain of types":     {map[string]string{"api/types.go": chain(5000)}, goCRD(rule), 0, []string{found}},
		"an endless chain":     {map[string]string{"api/types.go": chain(100_000)}, goCRD(rule), 0, []string{found}},
		"deep types":           {map[string]string{"api/types.go": spec + "type Deep " + strings.Repeat("[]", 50_000) + "string\n"}, goCRD(rule), 0, []string{found}},
		"deeper than a parser": {map[string]string{"api/types.go": spec, "api/deep.go": "package v1\n\ntype Deep " + strings.Repeat("[]", 200_000) + "string\n"}, goCRD(rule), 2, []string{"exceeded max nesting depth", found}},
		"a huge file":          {map[string]string{"api/types.go": spec, "api/huge.go": "package v1\n//" + strings.Repeat("x", 17*megabyte)}, goCRD(rule), 2, []string{"api/huge.go: error unreadable: more than 16 MiB", found}},
		"many markers": {map[string]string{
			"api/types.go": "package v1\n\n" + goApp + strings.Repeat(marker("self.a != ''"), markers) + strings.Repeat("// +kubebuilder:validation:XValidation:rule=a,\n", markers) + marker(rule) + "type Spec struct {\n\tA string `json:\"a\"`\n}\n",
		}, goCRD(rule), 0, []string{found, fmt.Sprint(3*markers, " lints")}},
		"many markers for as many rules": {map[string]string{
			"api/types.go": "package v1\n\n" + goApp + strings.Repeat(marker(rule), 2*markers) + "type Spec struct {\n\tA string `json:\"a\"`\n}\n",
		}, goCRD(slicesRepeat(rule, markers/10)...), 0, []string{fmt.Sprintf("%d of %[1]d rules found", markers/10)}},
		"a missing module": {map[string]string{
			"api/types.go": "package v1\n\nimport \"example.com/gone/v2/api\"\n\n" + goApp + "type Spec = api.Spec\n",
			"go.mod":       "module example.com/app\nrequire example.com/gone/v2 v2.0.1\n",
		}, goCRD(rule), 2, []string{"package example.com/gone/v2/api, whose types have this rule: module example.com/gone/v2 v2.0.1 is not in the module cache: run go mod download example.com/gone/v2"}},
		"a module out of the tree": {map[string]string{
			"api/types.go": "package v1\n\nimport \"example.com/gone\"\n\n" + goApp + "type Spec = gone.Spec\n",
			"go.mod":       "module example.com/app\nreplace example.com/gone => ../../../../../../etc\n",
		}, goCRD(rule), 2, []string{"is not in the repository"}},
	}
}

func slicesRepeat(text string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = text
	}
	return list
}

const goAttackCPU = time.Minute

// No program may run: the programs in $PATH are fakes that leave a mark.
func TestAttackGo(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	path := t.TempDir()
	for _, name := range []string{"go", "git", "gcc", "touch"} {
		if err := os.WriteFile(filepath.Join(path, name), []byte("#!/bin/sh\n: > "+ran+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", path)
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-toolexec=touch "+ran)
	for name, c := range goAttacks() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			plant(t, dir, map[string]string{"outside.go": "package v1\n", "tree/go.mod": "module example.com/app\n", "tree/config/crd/crd.yaml": c.crd})
			plant(t, filepath.Join(dir, "tree"), c.files)
			t.Chdir(filepath.Join(dir, "tree"))
			var out, stderr bytes.Buffer
			a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &stderr}
			begun := cputime.Process()
			code := a.run(t.Context(), []string{"vet", "--no-config", "./api/..."})
			if code != c.code {
				t.Errorf("exit code %d, want %d: %.2000s%.500s", code, c.code, &out, &stderr)
			}
			for _, want := range c.says {
				if !strings.Contains(out.String()+stderr.String(), want) {
					t.Errorf("does not say %q: %.2000s%.500s", want, &out, &stderr)
				}
			}
			used := cputime.Process() - begun
			t.Logf("%.1f s of processor", used.Seconds())
			if used > goAttackCPU {
				t.Errorf("%s of processor time, want at most %s", used, goAttackCPU)
			}
		})
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("something was run")
	}
}

func TestAttackGoOutput(t *testing.T) {
	const text = "\x1b[31mPWNED\u202e"
	dir := t.TempDir()
	plant(t, dir, map[string]string{
		"go.mod":                "module example.com/app\n",
		"config/crd/crd.yaml":   goCRD(hostile.Text, "self."+hostile.Text, "has(self.a)"),
		"api/" + text + ".go":   "package v1\n\n" + goApp + fmt.Sprintf("// +kubebuilder:validation:XValidation:rule=%q\n// +kubebuilder:validation:XValidation:rule=\"a%s”\",message=\"\"\"\n", hostile.Text, text) + "type Spec struct {\n\tA string `json:\"a\"`\n}\n",
		"api/x" + text + "y.go": "package v1\n\ntype " + text + " {\n",
	})
	t.Chdir(dir)
	for _, output := range []string{"text", "json", "junit", "sarif", "github"} {
		var out, stderr bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &stderr}
		if code := a.run(t.Context(), []string{"vet", "--no-config", "-o", output, "./api/..."}); code != 2 {
			t.Errorf("-o %s: exit code %d: %s%.3000s", output, code, &stderr, &out)
		}
		hostile.Harmless(t, "-o "+output, out.Bytes())
		hostile.Harmless(t, "stderr of -o "+output, stderr.Bytes())
	}
}
