// Package findingtest validates reports against the schemas of their formats, for tests.
package findingtest

import (
	_ "embed"
	"encoding/json"
	"os"
	"testing"

	"github.com/xeipuuv/gojsonschema"
)

//go:embed sarif-2.1.0.schema.json
var sarifSchema []byte

// SARIF validates a log against the schema of SARIF 2.1.0 (OASIS, errata 01).
func SARIF(t *testing.T, data []byte) {
	t.Helper()
	valid(t, gojsonschema.NewBytesLoader(sarifSchema), data)
}

// JSON validates a document against the schema in a file, or against a part of that schema.
func JSON(t *testing.T, file, part string, data []byte) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	schema := map[string]any{}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	if part != "" {
		schema = map[string]any{"definitions": schema["definitions"], "$ref": part}
	}
	valid(t, gojsonschema.NewGoLoader(schema), data)
}

func valid(t *testing.T, schema gojsonschema.JSONLoader, data []byte) {
	t.Helper()
	result, err := gojsonschema.Validate(schema, gojsonschema.NewBytesLoader(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range result.Errors() {
		t.Errorf("%s in:\n%.20000s", e, data)
	}
}
