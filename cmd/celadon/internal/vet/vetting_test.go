package vet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

func run(t *testing.T, args ...string) (stdout string, code int) {
	t.Helper()
	var o Options
	flags := pflag.NewFlagSet("vet", pflag.ContinueOnError)
	o.Flags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	var out, complaints bytes.Buffer
	err := Run(context.Background(), command.Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &complaints}, &o, flags.Args())
	var exit *command.ExitError
	if errors.As(err, &exit) {
		return out.String(), exit.Code
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), command.OK
}

const (
	rejectedCRD = "../../testdata/vet_terminal/crd.yaml"
	acceptedCRD = "../../../../examples/crontab/crd.yaml"
)

func files(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	broken := files(t, map[string]string{"a.yaml": "apiVersion: [", "beta.yaml": "{apiVersion: apiextensions.k8s.io/v1beta1, kind: CustomResourceDefinition}"})
	for _, output := range Outputs() {
		for _, c := range []struct {
			paths []string
			code  int
		}{
			{[]string{acceptedCRD}, command.OK},
			{[]string{acceptedCRD, rejectedCRD}, command.Findings},
			{[]string{broken, rejectedCRD, acceptedCRD}, command.Usage},
			{[]string{t.TempDir()}, command.Usage},
		} {
			out, code := run(t, append(c.paths, "-o", output, "--explain")...)
			if code != c.code {
				t.Errorf("-o %s %v: exit code %d, want %d", output, c.paths, code, c.code)
			}
			document(t, output, []byte(out))
		}
	}
}

func TestFoundDocuments(t *testing.T) {
	t.Parallel()
	for _, output := range Outputs() {
		out, code := run(t, "--find", "-o", output, "../../../../examples/unguarded/crd.yaml")
		if code != command.OK || output != "markdown" && !strings.Contains(out, "has(self.replicas)") { // a summary has no rewrites
			t.Errorf("-o %s: exit code %d: %s", output, code, out)
		}
		document(t, output, []byte(out))
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, output := range Outputs() {
		for _, list := range [][]*vetted{nil, hostileReports("x")} {
			var b bytes.Buffer
			p, err := (&Options{}).printer(output, io.Discard, &b)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range list {
				if err := p.crd(one); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.end(&summary{Interrupted: true}); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), "interrupted") {
				t.Errorf("-o %s of %d CRDs does not say that it was interrupted:\n%s", output, len(list), b.String())
			}
			document(t, output, b.Bytes())
		}
	}
}

func TestLintsStandWithTheirRules(t *testing.T) {
	t.Parallel()
	crd := func(rule string) string {
		return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, kind: Thing}
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
            properties: {a: {type: integer}}
            x-kubernetes-validations:
            - message: m
              ` + rule
	}
	for rule, want := range map[string]string{
		"rule: self.a > 0": `
  --> DIR/crd.yaml:20:15: spec, rule 0
   20 |             - message: m
      |               ^
        rule: self.a > 0
`,
		"rule: |\n                self.a > 0 &&\n                true": `
        rule: self.a > 0 &&
              true
`,
	} {
		dir := files(t, map[string]string{"crd.yaml": crd(rule)})
		out, code := run(t, dir)
		if code != command.OK || !strings.Contains(strings.ReplaceAll(out, dir, "DIR"), want) {
			t.Errorf("exit code %d, want 0 and %s in:\n%s", code, want, out)
		}
	}
}
