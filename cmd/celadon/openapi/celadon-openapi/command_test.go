package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

const crontab = "../../../../examples/crontab/crd.yaml"

func run(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	s := command.Streams{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs}.Guarded()
	code = command.Execute(t.Context(), s, newCommand(s), args)
	return out.String(), errs.String(), code
}

// TestDocuments checks where documents are written and that the output is deterministic. Module
// conformance compares their content with a real server.
func TestDocuments(t *testing.T) {
	v3, stderr, code := run(t, "", "--crd", crontab)
	if code != 0 || stderr != "" {
		t.Fatal(stderr, code)
	}
	var document struct {
		OpenAPI    string
		Paths      map[string]any
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal([]byte(v3), &document); err != nil {
		t.Fatal(err)
	}
	if document.Components.Schemas["com.example.stable.v1.CronTab"] == nil || document.Paths["/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}/status"] == nil {
		t.Error("the CRD's own schema or path is missing")
	}
	crd, err := os.ReadFile(crontab)
	if err != nil {
		t.Fatal(err)
	}
	if again, _, _ := run(t, string(crd), "--crd", "-", "--group-version", "stable.example.com/v1"); again != v3 {
		t.Error("the same CRD gives another document")
	}

	dir := filepath.Join(t.TempDir(), "out")
	if stdout, stderr, code := run(t, "", "--crd", crontab, "--crd", "../../../../examples/costly", "--out", dir); code != 0 || stdout+stderr != "" {
		t.Fatal(stdout, stderr, code)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "apis__stable.example.com__v1_openapi.json")); err != nil || string(data) != v3 {
		t.Error("the file holds something else", err)
	}

	v2, _, code := run(t, "", "--crd", crontab, "--crd", "../../../../examples/costly", "--v2")
	var swagger struct{ Definitions map[string]any }
	if err := json.Unmarshal([]byte(v2), &swagger); err != nil || code != 0 || len(swagger.Definitions) == 0 {
		t.Error(err, code)
	}
	if strings.Contains(v2, `"default"`) {
		t.Error("OpenAPI v2 has no defaults")
	}
}

// TestRejected checks command lines and inputs that end with exit code 2.
func TestRejected(t *testing.T) {
	unserved := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"as.b.c"},"spec":{"group":"b.c","names":{"kind":"A","plural":"as"},"scope":"Cluster","versions":[{"name":"v1","served":false,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
	for _, test := range []struct {
		args  string
		stdin string
		want  string
	}{
		{"", "", "no CRDs given: use --crd PATH (see celadon-openapi --help)"},
		{"--crds x", "", "unknown flag: --crds; did you mean --crd?"},
		{"x --crd y", "", `"x": celadon-openapi takes no arguments`},
		{"--crd nosuch.yaml", "", "nosuch.yaml"},
		{"--crd -", "a: b", "no CustomResourceDefinition in -"},
		{"--crd -", unserved, "no version is served"},
		{"--crd - --v2", unserved, "no version is served"},
		{"--crd " + crontab + " --group-version v1", "", `--group-version "v1": no such version is served: want stable.example.com/v1`},
		{"--crd " + crontab + " --group-version stable.example.com/v1 --v2", "", "--v2 and --group-version both given"},
		{"--crd " + crontab + " --crd " + crontab, "", "crontabs.stable.example.com: duplicate: a server can have only one"},
		{"--crd " + crontab + " --crd ../../../../examples/costly", "", "2 documents: use --group-version"},
		{"--crd " + crontab + " --out " + crontab, "", "not a directory"},
	} {
		stdout, stderr, code := run(t, test.stdin, strings.Fields(test.args)...)
		if code != command.Usage || stdout != "" || !strings.Contains(stderr, test.want) || strings.Count(stderr, "--help") > 1 {
			t.Errorf("%s: code %d, %q, want %q", test.args, code, stdout+stderr, test.want)
		}
	}
}

// TestBrokenSchemas checks CRDs with invalid schemas, for which a server publishes only the kind
// without its fields.
func TestBrokenSchemas(t *testing.T) {
	for _, schema := range []string{`{}`, `{"type":"object","properties":{"a":{}}}`, `{"type":"string"}`, `{"type":"object","properties":{"a":{"type":"nosuch"}}}`, `null`} {
		crd := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"as.b.c"},"spec":{"group":"b.c","names":{"kind":"A","plural":"as"},"scope":"Cluster","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":` + schema + `}}]}}`
		for _, flag := range []string{"--v2", "--group-version=b.c/v1"} {
			if stdout, stderr, code := run(t, crd, "--crd", "-", flag); code != 0 || !slices.Contains(strings.Fields(stdout), `"c.b.v1.A":`) {
				t.Errorf("%s: code %d: %s%s", schema, code, stdout[:min(len(stdout), 300)], stderr)
			}
		}
	}
}
