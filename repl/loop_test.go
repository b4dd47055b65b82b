package repl

import (
	"fmt"
	"io/fs"
	"testing"

	"sigs.k8s.io/yaml"
)

// disk is a Host with files in memory.
type disk map[string]string

func (d disk) load(path string) ([]Document, error) {
	text, ok := d[path]
	if !ok {
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return []Document{{File: path, Line: 1, Text: []byte(text), JSON: data}}, nil
}

func (d disk) host() Host {
	return Host{Load: d.load}
}

const diskCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: disks.example.com}
spec:
  group: example.com
  names: {kind: Disk, plural: disks}
  scope: Namespaced
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
            properties:
              size: {type: integer}
            x-kubernetes-validations:
            - rule: |-
                // the disks are small
                self.size <
                  10
              message: too large
`

const diskObject = `{apiVersion: example.com/v1, kind: Disk, metadata: {name: d}, spec: {size: 5}}`

func diskSession(t *testing.T) (*Session, disk) {
	t.Helper()
	d := disk{"crd.yaml": diskCRD, "obj.yaml": diskObject}
	s, err := NewSession(Config{Host: d.host()})
	if err != nil {
		t.Fatal(err)
	}
	must(t, s, ":load crd crd.yaml")
	must(t, s, ":load object obj.yaml")
	return s, d
}

func wantText(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
