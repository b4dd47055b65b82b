package ruletest

import (
	"context"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

func TestAppend(t *testing.T) {
	t.Parallel()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(appendCRD), crd); err != nil {
		t.Fatal(err)
	}
	crds := []*CRD{{File: "crd.yaml", Definition: crd}}
	object := func(size int64) map[string]any {
		return map[string]any{"apiVersion": "example.com/v1", "kind": "Disk", "metadata": map[string]any{"name": "d"}, "spec": map[string]any{"size": size}}
	}
	text := NewSuite("disks", "crd.yaml")
	for _, add := range []struct {
		name string
		req  engine.Request
	}{
		{"small", engine.Request{Object: object(1)}},
		{"large: rejected", engine.Request{Object: object(20)}},
		{"shrinks", engine.Request{Object: object(1), OldObject: object(2)}},
	} {
		var err error
		if text, err = Parse("s.yaml", 1, text).Append(add.name, add.req); err != nil {
			t.Fatal(err)
		}
		open := Parse("s.yaml", 1, text)
		filled, n, errs := open.Update(New(Config{Fill: true}).Run(context.Background(), open, crds, nil))
		if n != 1 || len(errs) > 0 {
			t.Fatalf("%d changed, %v", n, errs)
		}
		text = filled
	}
	if got := string(text); got != appended {
		t.Errorf("got\n%s\nwant\n%s", got, appended)
	}
	s := Parse("s.yaml", 1, text)
	for _, c := range New(Config{}).Run(context.Background(), s, crds, nil).Cases {
		if c.Outcome != Passed {
			t.Errorf("%s: %s %s", c.Name, c.Outcome, c.Message)
		}
	}
	if _, err := s.Append("small", engine.Request{Object: object(1)}); err == nil || !strings.Contains(err.Error(), "already has a test") {
		t.Errorf("the same name twice: %v", err)
	}
	for _, bad := range []string{"a: b", "crdName: x\ntests: {onCreate: []}", "kind: RuleTest\napiVersion: celadon/v1\ntests: {}", "- 1", "a: ["} {
		if text, err := Parse("s.yaml", 1, []byte(bad)).Append("x", engine.Request{Object: object(1)}); err == nil {
			t.Errorf("%q: got %s", bad, text)
		}
	}
}

const appendCRD = `
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
            - {rule: self.size < 10, message: too large}
            - {rule: self.size >= oldSelf.size, message: must not shrink}
`

const appended = `kind: RuleTest
apiVersion: celadon/v1
name: disks
crd: crd.yaml
tests:
- name: small
  object:
    apiVersion: example.com/v1
    kind: Disk
    metadata:
      name: d
    spec:
      size: 1
  expect: valid
- name: 'large: rejected'
  object:
    apiVersion: example.com/v1
    kind: Disk
    metadata:
      name: d
    spec:
      size: 20
  expect:
    causes:
    - field: spec
      reason: FieldValueInvalid
      message: 'Invalid value: too large'
- name: shrinks
  object:
    apiVersion: example.com/v1
    kind: Disk
    metadata:
      name: d
    spec:
      size: 1
  old:
    apiVersion: example.com/v1
    kind: Disk
    metadata:
      name: d
    spec:
      size: 2
  expect:
    causes:
    - field: spec
      reason: FieldValueInvalid
      message: 'Invalid value: must not shrink'
`
