package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xeipuuv/gojsonschema"
)

func TestCheckReportSchema(t *testing.T) {
	t.Parallel()
	schema, err := os.ReadFile("../../docs/check-report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	crd, err := os.ReadFile(crontabCRD)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ crd, object string }{
		"fine":             {string(crd), goodCronTab},
		"misspelt keys":    {strings.Replace(string(crd), "x-kubernetes-validations", "x-kubernetes-validation", 1), goodCronTab + "sped: {}\n"},
		"no such type":     {strings.Replace(string(crd), "type: object", "type: thing", 1), goodCronTab},
		"no object":        {string(crd), "a: b\n---\n" + goodCronTab},
		"unknown, in JSON": {string(crd), `{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"a"},"spec":{"a":1,"a":2}}`},
		"selectable":       {strings.Replace(string(crd), "    served: true\n", "    served: true\n    selectableFields: [{jsonPath: .spec.image}]\n", 1), goodCronTab},
	} {
		dir := t.TempDir()
		plant(t, dir, map[string]string{"crd.yaml": c.crd, "m/a.yaml": c.object})
		var out, stderr bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &stderr}
		a.run(t.Context(), []string{"check", "--no-config", "--persisted", "--crd", filepath.Join(dir, "crd.yaml"), "-o", "json", filepath.Join(dir, "m")})
		result, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(schema), gojsonschema.NewBytesLoader(out.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v: %s%s", name, err, &out, &stderr)
		}
		for _, e := range result.Errors() {
			t.Errorf("%s: %s in:\n%s", name, e, &out)
		}
	}
}
