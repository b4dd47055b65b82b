package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/xeipuuv/gojsonschema"
)

func TestConformanceSuiteSchema(t *testing.T) {
	t.Parallel()
	const folder = "../../conformance/suite/"
	for file, part := range map[string]string{
		"data/suite.json": "suite", "data/crds.jsonl": "crd", "data/cases.jsonl": "case",
		"testdata/requests.jsonl": "request", "testdata/answers.jsonl": "answer",
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(folder + file)
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
			if part == "suite" {
				lines = [][]byte{data}
			}
			schema := partOfSchema(t, "conformance-suite", part)
			for i, line := range lines {
				result, err := schema.Validate(gojsonschema.NewBytesLoader(line))
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range result.Errors() {
					t.Errorf("line %d: %s", i+1, e)
				}
			}
		})
	}
}

func partOfSchema(t *testing.T, name, part string) *gojsonschema.Schema {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(schemaOf(t, name), &all); err != nil {
		t.Fatal(err)
	}
	schema, err := gojsonschema.NewSchema(gojsonschema.NewGoLoader(map[string]any{"definitions": all["definitions"], "$ref": "#/definitions/" + part}))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}
