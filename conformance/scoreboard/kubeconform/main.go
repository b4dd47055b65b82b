// Command kubeconform implements the protocol of the conformance suite with kubeconform's library. It converts schemas
// like kubeconform's script openapi2jsonschema.py.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/yannh/kubeconform/pkg/validator"

	"github.com/celadon-cel/celadon/conformance/suite"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve() error {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	hello := suite.Answer{Name: "kubeconform", Levels: []string{suite.LevelVerdict}, Minors: []string{"1.37"}}
	return suite.Serve(os.Stdin, os.Stdout, hello, func(req *suite.Request) (*suite.Response, error) { return write(dir, req) })
}

func write(dir string, req *suite.Request) (*suite.Response, error) {
	if req.OldObject != nil || req.Subresource != "" {
		return nil, fmt.Errorf("%w: updates and subresources", suite.ErrUnsupported)
	}
	schema, err := schemaOf(req)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "schema.json")
	if err := os.WriteFile(file, schema, 0o600); err != nil {
		return nil, err
	}
	v, err := validator.New([]string{file}, validator.Opts{Strict: req.FieldValidation == "Strict"})
	if err != nil {
		return nil, err
	}
	allowed := true
	for _, result := range v.Validate("object.json", io.NopCloser(bytes.NewReader(req.Object))) {
		allowed = allowed && result.Status == validator.Valid
	}
	return &suite.Response{Allowed: allowed}, nil
}

func schemaOf(req *suite.Request) ([]byte, error) {
	var crd struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema map[string]any }
			}
		}
	}
	if err := json.Unmarshal(req.CRD, &crd); err != nil {
		return nil, err
	}
	for _, v := range crd.Spec.Versions {
		if v.Name == req.Version {
			return json.Marshal(adapt(v.Schema.OpenAPIV3Schema, req.FieldValidation == "Strict", true))
		}
	}
	return nil, fmt.Errorf("no version %s", req.Version)
}

func adapt(schema any, strict, root bool) any {
	switch x := schema.(type) {
	case []any:
		for i := range x {
			x[i] = adapt(x[i], strict, false)
		}
	case map[string]any:
		if x["format"] == "int-or-string" || x["x-kubernetes-int-or-string"] == true {
			return map[string]any{"oneOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "integer"}}}
		}
		for name, child := range x {
			if !strings.HasPrefix(name, "x-") && name != "default" && name != "enum" {
				x[name] = adapt(child, strict, false)
			}
		}
		if _, ok := x["properties"].(map[string]any); ok && strict && !root && x["additionalProperties"] == nil {
			x["additionalProperties"] = false
		}
	}
	return schema
}
