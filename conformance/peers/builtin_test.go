package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	structureOnly = "kubeconform"
	manyBuiltin   = 3334 // files of each of three kinds
)

// BenchmarkBuiltin compares celadon check of built-in kinds with kubeconform, if it is installed. kubeconform validates
// only their structure, by local schemas that are made from Kubernetes' own description of its API.
func BenchmarkBuiltin(b *testing.B) {
	command := celadon(b)
	other, err := exec.LookPath(structureOnly)
	if err != nil {
		b.Skipf("%s is not in PATH; get it with: go install %s@v0.8.0", structureOnly, "github.com/yannh/kubeconform/cmd/kubeconform")
	}
	dir := b.TempDir()
	if err := builtinSchemas(dir); err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"typical", "small"} {
		files := written(b)(builtinFiles(dir, name))
		check := run{args: []string{command, "check", files}}
		schemas := filepath.Join(dir, "{{ .ResourceKind }}.json")
		peer := run{args: []string{other, "-strict", "-schema-location", schemas, files}}
		row := fmt.Sprintf("%d %s files", 3*manyBuiltin, name)
		for range 2 {
			bench(b, row, single, ours, check.bench)
			bench(b, row, single, structureOnly, peer.bench)
			check.peak, peer.peak, row = true, true, row+", peak memory"
		}
	}
}

func builtinFiles(dir, name string) (string, error) {
	dir = filepath.Join(dir, name)
	text, err := made.ReadFile("testdata/builtin-" + name + ".yaml")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for at, document := range strings.Split(string(text), "---\n") {
		for i := range manyBuiltin {
			path := filepath.Join(dir, fmt.Sprintf("%d-%05d.yaml", at, i))
			if err := os.WriteFile(path, []byte(numbered(document, i)), 0o644); err != nil {
				return "", err
			}
		}
	}
	return dir, nil
}

// The schemas do not allow unknown fields.
func builtinSchemas(dir string) error {
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes")
	list.Dir = filepath.Join("..", "..", "builtin")
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list -m k8s.io/kubernetes: %w", err)
	}
	data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "api", "openapi-spec", "swagger.json"))
	if err != nil {
		return err
	}
	var api struct{ Definitions definitions }
	if err := json.Unmarshal(data, &api); err != nil {
		return err
	}
	for _, name := range []string{"apps.v1.Deployment", "core.v1.Service", "core.v1.ConfigMap"} {
		schema, err := json.Marshal(api.Definitions.strict(api.Definitions["io.k8s.api."+name]))
		if err != nil {
			return err
		}
		kind := strings.ToLower(name[strings.LastIndex(name, ".")+1:])
		if err := os.WriteFile(filepath.Join(dir, kind+".json"), schema, 0o644); err != nil {
			return err
		}
	}
	return nil
}

type definitions map[string]map[string]any

// strict returns a schema like those that are published for kubeconform: it has no references, objects
// have no other properties than those that it lists, and optional ones can be null.
func (d definitions) strict(s map[string]any) map[string]any {
	if ref, ok := s["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/definitions/")
		if strings.HasSuffix(name, ".Quantity") || strings.HasSuffix(name, ".IntOrString") {
			return map[string]any{"oneOf": []any{
				map[string]any{"type": []string{"string", "null"}}, map[string]any{"type": []string{"number", "null"}},
			}}
		}
		return d.strict(d[name])
	}
	s = maps.Clone(s)
	delete(s, "description")
	if properties, ok := s["properties"].(map[string]any); ok {
		required, _ := s["required"].([]any)
		properties = maps.Clone(properties)
		for name, sub := range properties {
			sub := d.strict(sub.(map[string]any))
			if text, ok := sub["type"].(string); ok && !slices.Contains(required, any(name)) {
				sub["type"] = []string{text, "null"}
			}
			properties[name] = sub
		}
		s["properties"], s["additionalProperties"] = properties, false
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if sub, ok := s[name].(map[string]any); ok {
			s[name] = d.strict(sub)
		}
	}
	return s
}
