package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
)

const versioned = `
metadata: {name: things.example.org}
spec:
  group: example.org
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              half: {type: integer, minimum: 0.5}
              small: {type: integer, format: int32}
              single: {type: number, format: float}
              step: {type: integer, multipleOf: 0.5}
              day: {type: integer, format: date}
              flag: {type: boolean, format: date}
              host: {type: string, format: hostname}
              label: {type: string, format: k8s-short-name}
              one: {type: string, maxLength: 1}
              short: {type: string, maxLength: 2}
              single-item: {type: array, maxItems: 1, items: {type: string}}
              few: {type: array, maxItems: 2, items: {type: string}}
              many: {type: object, maxProperties: 1, additionalProperties: {type: string}}
              some: {type: array, minItems: 1, items: {type: string}}
              color: {type: string, enum: [red, blue]}
              free: {x-kubernetes-preserve-unknown-fields: true, enum: [1]}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}}}
              pod: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
              even: {type: integer, x-kubernetes-validations: [{rule: "self % 2 == 0", message: odd}]}
              name: {type: string, x-kubernetes-validations: [{rule: "self == 'x'", message: not x, reason: FieldValueDuplicate}]}
              mixed: {x-kubernetes-int-or-string: true, x-kubernetes-validations: [{rule: "self == 1", message: not one}]}
              pair:
                type: object
                properties: {a: {type: integer}, b: {type: integer}}
                x-kubernetes-validations:
                - {rule: "self.a == 0", message: not zero, fieldPath: .a}
                - {rule: "self.b == 0", message: not zero either, fieldPath: .b}
                - {rule: "self.a + self.b == 0", message: no sum}
                - {rule: "1 / self.a == 1", message: not one}
              items: {type: array, items: {type: string}, x-kubernetes-validations: [{rule: "size(self) == 0", message: not empty, reason: FieldValueDuplicate}]}
          status:
            type: object
            properties:
              phase: {type: string, enum: [ready]}
              count: {type: integer, maximum: 3}
              even: {type: integer, x-kubernetes-validations: [{rule: "self % 2 == 0", message: odd}]}
`

type versionCase struct {
	name     string
	obj, old string // fields of the object besides apiVersion, kind, and metadata.name
	status   bool   // the write is a status update
	// want holds the causes by the first minor version that has them. An empty list means that the
	// write is accepted. The messages come from the sources of the releases.
	want map[int][]string
	// warnings holds the warnings likewise.
	warnings map[int][]string
}

func (c *versionCase) request(t *testing.T) engine.Request {
	t.Helper()
	read := func(fields string) map[string]any {
		if fields == "" {
			return nil
		}
		obj := object(t, "{apiVersion: example.org/v1, kind: Thing, "+fields+"}")
		meta, _ := obj["metadata"].(map[string]any)
		if meta == nil {
			meta = map[string]any{}
			obj["metadata"] = meta
		}
		meta["name"], meta["namespace"] = "t", "default"
		return obj
	}
	req := engine.Request{Object: read(c.obj), OldObject: read(c.old)}
	if c.status {
		req.Subresource = "status"
	}
	return req
}

func as(entries map[int][]string, minor int) (entry []string) {
	for _, since := range slices.Sorted(maps.Keys(entries)) {
		if since <= minor {
			entry = entries[since]
		}
	}
	return entry
}

func TestKubeVersions(t *testing.T) {
	t.Parallel()
	for minor := 28; minor <= types.Newest; minor++ {
		e, err := engine.Compile(crd(t, versioned), engine.Config{KubeVersion: fmt.Sprintf("1.%d", minor)})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range slices.Concat(schemaCases, ruleVersionCases, metadataCases) {
			res, err := e.Validate(t.Context(), c.request(t))
			if err != nil {
				t.Fatalf("1.%d: %s: %v", minor, c.name, err)
			}
			var got []string
			for _, cause := range res.Causes {
				got = append(got, cause.Field+": "+cause.Message)
			}
			want := slices.Clone(as(c.want, minor))
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("1.%d: %s: causes: %s", minor, c.name, diff)
			}
			if res.Allowed != (len(want) == 0) {
				t.Errorf("1.%d: %s: accepted is %v, %v", minor, c.name, res.Allowed, res.Failure)
			}
			if diff := cmp.Diff(as(c.warnings, minor), res.Warnings); diff != "" {
				t.Errorf("1.%d: %s: warnings: %s", minor, c.name, diff)
			}
		}
	}
}

const skippedRules = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"

// In text, $ is the location of the value.
func in(path, text string) string {
	return path + ": Invalid value: " + strings.ReplaceAll(text, "$", path+" in body")
}

func checkedInt(what, path, format string) string {
	return fmt.Sprintf(`<nil>: Invalid value: "": %s value must be of type %s in %s`, what, format, path)
}
