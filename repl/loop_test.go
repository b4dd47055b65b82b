package repl

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
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

// TestEditor checks that rules that the user edits in an editor keep their line breaks.
func TestEditor(t *testing.T) {
	t.Parallel()
	s, _ := diskSession(t)
	var opened, result string
	s.host.EditText = func(_ context.Context, name string, text []byte) ([]byte, error) {
		opened = name + ": " + string(text)
		return []byte(result), nil
	}
	must(t, s, ":cd spec")
	result = "// the disks are small\nself.size <\n  11\n"
	must(t, s, ":edit 0")
	wantText(t, opened, "rule.cel: // the disks are small\nself.size <\n  10\n")
	wantText(t, strings.Split(must(t, s, ":diff"), "@@")[2], `
             - rule: |-
                 // the disks are small
                 self.size <
-                  10
+                  11
               message: too large
`)

	result = "self.size <\n  self.nope"
	if reply := s.Do(context.Background(), ":edit 0"); !reply.Failed || !strings.Contains(reply.Text, "undefined field 'nope'") {
		t.Errorf("a broken rule: %s", reply.Text)
	}
	result = "self.size < 12"
	must(t, s, ":edit 0")
	wantText(t, opened, "rule.cel: self.size <\n  self.nope\n") // the text that did not compile
	wantText(t, must(t, s, ":edit 0"), nothingChanged)
}
