package celadonvet

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestImportedTypes(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GOMODCACHE", filepath.Join(dir, "cache"))
	for name, text := range map[string]string{
		"cache/example.com/cached@v1.0.0/c.go": "package cached\n\ntype Name string // +kubebuilder:validation:XValidation:rule=\"true\"\n",
		".git/HEAD":                            "",
		"shared/c.go":                          "package shared\n\n// +kubebuilder:validation:XValidation:rule=\"self != 'c'\"\ntype Name string\n",
		"m/go.mod":                             "module example.com/m\n\nrequire (\n\texample.com/cached v1.0.0\n\texample.com/missing v1.0.0\n\texample.com/shared v1.0.0\n)\nreplace example.com/shared => ../shared\n",
		"m/types.go": `// +groupName=example.com
package v1

import (
	"example.com/cached"
	"example.com/missing"
	"example.com/shared"
)

type T struct {
	TypeMeta ` + "`json:\",inline\"`" + `
	A cached.Name ` + "`json:\"a\"`" + `
	B missing.Name ` + "`json:\"b\"`" + `
	C shared.Name ` + "`json:\"c\"`" + `
}
`,
		"m/manifests/ts.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ts.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: ts, kind: T}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          a: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: "self != 'a'"}]}
          c: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: "self != 'c'"}, {rule: "self != 'd'"}]}
          b: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: "self != 'b'"}]}
`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := vetModule(filepath.Join(dir, "m"), Config{})
	if err != nil {
		t.Fatal(err)
	}
	// The rule of the cached type differs from the CRD's, and the shared type has only one of the CRD's two
	// rules. The module of the missing type cannot be read, so nothing is reported for it.
	var got []string
	for _, f := range found {
		got = append(got, f.ID+": "+f.Rule)
	}
	if want := "[rule-without-marker: self != 'a' rule-without-marker: self != 'd']"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
