package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/xeipuuv/gojsonschema"
	"sigs.k8s.io/yaml"
)

func TestTestReportSchema(t *testing.T) {
	t.Parallel()
	reports, suites := schemaOf(t, "test-report"), schemaOf(t, "rule-test")
	scripts, err := filepath.Glob("testdata/script/test*.txtar")
	if err != nil || len(scripts) < 4 {
		t.Fatal(scripts, err)
	}
	for _, script := range append(scripts, "") {
		dir := "../../examples/crontab"
		if script != "" {
			archive, err := txtar.ParseFile(script)
			if err != nil {
				t.Fatal(err)
			}
			dir = t.TempDir()
			files := map[string]string{}
			for _, f := range archive.Files {
				files[f.Name] = string(f.Data)
			}
			plant(t, dir, files)
		}
		out := testReport(t, dir)
		holds(t, script, reports, out)
		var report struct {
			Suites []struct {
				File   string
				Errors []any
				Cases  []struct{ Outcome string }
			}
		}
		if err := json.Unmarshal(out, &report); err != nil {
			t.Fatal(err)
		}
		for _, s := range report.Suites {
			data, err := os.ReadFile(s.File)
			if err != nil {
				t.Fatal(err)
			}
			wellWritten := len(s.Errors) == 0
			for _, c := range s.Cases {
				wellWritten = wellWritten && c.Outcome != "error"
			}
			if wellWritten && bytes.Contains(data, []byte("RuleTest")) {
				doc, err := yaml.YAMLToJSON(data)
				if err != nil {
					t.Fatal(err)
				}
				holds(t, s.File, suites, doc)
			}
		}
	}
}

func testReport(t *testing.T, dir string) []byte {
	t.Helper()
	var out, stderr bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &stderr}
	a.run(t.Context(), []string{"test", "--no-config", "-o", "json", dir})
	return out.Bytes()
}

func schemaOf(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("../../docs/" + name + ".schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func holds(t *testing.T, name string, schema, doc []byte) {
	t.Helper()
	result, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(schema), gojsonschema.NewBytesLoader(doc))
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, doc)
	}
	for _, e := range result.Errors() {
		t.Errorf("%s: %s", name, e)
	}
}
