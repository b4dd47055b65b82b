package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
)

const widgets = `
metadata: {name: widgets.example.org}
spec:
  group: example.org
  names: {kind: Widget, plural: widgets}
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
            required: [size]
            properties:
              size: {type: integer, minimum: 0, x-kubernetes-validations: [{rule: "self != 7", message: never seven}]}
              color: {type: string, default: blue}
              tags: {type: array, x-kubernetes-list-type: set, items: {type: string, maxLength: 5}}
              note: {type: string, nullable: true}
              labels: {type: object, additionalProperties: {type: integer, x-kubernetes-validations: [{rule: "self < 10", messageExpression: "'too large: ' + string(self)", reason: FieldValueForbidden}]}}
              any: {type: object, x-kubernetes-preserve-unknown-fields: true}
            x-kubernetes-validations:
            - {rule: "self.size >= oldSelf.size", message: may not shrink}
            - {rule: "self.size < 100"}
          status: {type: object, properties: {phase: {type: string}}}
        x-kubernetes-validations:
        - {rule: "self.metadata.name != 'bad'", fieldPath: ".spec.color"}
  - name: v1beta1
    served: true
    deprecated: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - name: v1alpha1
    served: false
    schema: {openAPIV3Schema: {type: object}}
`

func widget(spec string) string {
	return `{apiVersion: example.org/v1, kind: Widget, metadata: {name: w, namespace: d}, spec: ` + spec + `}`
}

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	obj, ok := value(t, text).(map[string]any)
	if !ok {
		t.Fatalf("no object: %s", text)
	}
	return obj
}

func TestValidate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, obj, old, sub string
		raw                 string
		namespace, url      string
		fields              string
		failure             string // the Status' message
		causes              []string
		warnings            []string
		persisted           string // spec, or the whole object with its apiVersion
	}{
		{name: "create", obj: widget(`{size: 1}`), persisted: `{size: 1, color: blue}`},
		{name: "null is dropped or kept", obj: widget(`{size: 1, note: null, color: null, tags: null}`), persisted: `{size: 1, note: null, color: blue}`},
		{name: "unknown field", obj: widget(`{size: 1, x: 2}`), persisted: `{size: 1, color: blue}`, warnings: []string{`unknown field "spec.x"`}},
		{name: "unknown field, ignored", obj: widget(`{size: 1, x: 2}`), fields: "Ignore", persisted: `{size: 1, color: blue}`},
		{name: "unknown field, strict", obj: widget(`{size: 1, x: 2}`), fields: "Strict", failure: `Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.x"`},
		{name: "kept field", obj: widget(`{size: 1, any: {x: [1, {b: null}]}}`), persisted: `{size: 1, color: blue, any: {x: [1, {b: null}]}}`},
		{name: "required", obj: widget(`{}`), causes: []string{"FieldValueRequired spec.size: Required value", "FieldValueInvalid <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"}},
		{name: "minimum", obj: widget(`{size: -1}`), causes: []string{"FieldValueInvalid spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0"}},
		{name: "rule", obj: widget(`{size: 7}`), causes: []string{"FieldValueInvalid spec.size: Invalid value: 7: never seven"}},
		{name: "several", obj: `{apiVersion: example.org/v1, kind: Widget, metadata: {name: bad, namespace: d}, spec: {size: 700, labels: {b: 11, a: 10, c: 1}, tags: [x, x]}}`, causes: []string{
			"FieldValueInvalid spec.color: Invalid value: failed rule: self.metadata.name != 'bad'",
			"FieldValueForbidden spec.labels[a]: Forbidden: too large: 10", "FieldValueForbidden spec.labels[b]: Forbidden: too large: 11",
			`FieldValueDuplicate spec.tags[1]: Duplicate value: "x"`, "FieldValueInvalid spec: Invalid value: failed rule: self.size < 100",
		}},
		{name: "name", obj: `{apiVersion: example.org/v1, kind: Widget, metadata: {name: "A_b", namespace: d}, spec: {size: 1}}`, causes: []string{`FieldValueInvalid metadata.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`}},
		{name: "no name", obj: `{apiVersion: example.org/v1, kind: Widget, spec: {size: 1}}`, causes: []string{"FieldValueRequired metadata.name: Required value: name or generateName is required", "FieldValueInvalid <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"}},
		{name: "other kind", obj: `{apiVersion: example.org/v1, kind: Gadget, metadata: {name: w}, spec: {size: 1}}`, causes: []string{`FieldValueInvalid kind: Invalid value: "Gadget": must be Widget`}},
		{name: "status is dropped", obj: `{apiVersion: example.org/v1, kind: Widget, metadata: {name: w, namespace: d}, spec: {size: 1}, status: {phase: x}}`, persisted: `{size: 1, color: blue}`},
		{name: "update", obj: widget(`{size: 2}`), old: widget(`{size: 1}`), persisted: `{size: 2, color: blue}`},
		{name: "shrink", obj: widget(`{size: 1}`), old: widget(`{size: 2}`), causes: []string{"FieldValueInvalid spec: Invalid value: may not shrink"}},
		{name: "ratcheted", obj: widget(`{size: 7, note: a}`), old: widget(`{size: 7}`), persisted: `{size: 7, note: a, color: blue}`, warnings: []string{"spec.size: Invalid value: 7: never seven"}},
		{name: "status update", sub: "status", obj: `{apiVersion: example.org/v1, kind: Widget, metadata: {name: w, namespace: d}, spec: {size: 7}, status: {phase: x}}`, old: widget(`{size: 2}`), persisted: `{size: 2, color: blue}`},
		{name: "status update of the wrong type", sub: "status", obj: `{apiVersion: example.org/v1, kind: Widget, metadata: {name: w, namespace: d}, status: {phase: 1}}`, old: widget(`{size: 2}`), causes: []string{`FieldValueTypeInvalid status.phase: Invalid value: "integer": phase in body must be of type string: "integer"`, "FieldValueInvalid <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"}},
		{name: "other group", obj: `{apiVersion: other.org/v1, kind: Widget, metadata: {name: w}}`, failure: "the API version in the data (other.org/v1) does not match the expected API version (example.org/v1)"},
		{name: "version that is not there", obj: `{apiVersion: example.org/v9, kind: Widget, metadata: {name: w}}`, failure: "the API version in the data (example.org/v9) does not match the expected API version (example.org/v1)"},
		{name: "version that is not served", obj: `{apiVersion: example.org/v1alpha1, kind: Widget, metadata: {name: w}}`, failure: "the API version in the data (example.org/v1alpha1) does not match the expected API version (example.org/v1)"},
		{name: "deprecated version", obj: `{apiVersion: example.org/v1beta1, kind: Widget, metadata: {name: w, namespace: d}, spec: {size: 1, x: 2}}`, warnings: []string{"example.org/v1beta1 Widget is deprecated; use example.org/v1 Widget"}, persisted: `{size: 1, color: blue}`},
		{name: "no kind", obj: `{apiVersion: example.org/v1}`, failure: "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{\"apiVersion\":\"example.org/v1\"}' ({\"apiVersion\":\"example.org/v1\" ...)"},
		{name: "other namespace", obj: widget(`{size: 1}`), namespace: "e", failure: "the namespace of the provided object does not match the namespace sent on the request"},
		{name: "other name", obj: widget(`{size: 1}`), old: widget(`{size: 1}`), url: "v", failure: "the name of the object (w) does not match the name on the URL (v)"},
		{name: "duplicate key", raw: `{"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 1, "size": 2}}`, warnings: []string{`duplicate field "spec.size"`}, persisted: `{size: 2, color: blue}`},
		{name: "duplicate key, strict", fields: "Strict", raw: `{"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 1, "size": 2}}`, failure: `Widget in version "v1" cannot be handled as a Widget: strict decoding error: duplicate field "spec.size"`},
		{name: "no JSON", raw: `kind: Widget`, failure: "the object provided is unrecognized (must be of type Widget): couldn't get version/kind; json parse error: invalid character 'k' looking for beginning of value (6b696e643a20576964676574)"},
		{name: "JSON that is not an object", raw: `[1]`, failure: "the object provided is unrecognized (must be of type Widget): couldn't get version/kind; json parse error: "},
		{name: "null", raw: `null`, failure: "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in 'null' (6e756c6c)"},
	}
	e := mustCompile(t, widgets)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			req := engine.Request{Subresource: tt.sub, Namespace: tt.namespace, Name: tt.url, FieldValidation: tt.fields}
			if tt.raw != "" {
				req.Raw = []byte(tt.raw)
			} else {
				req.Object = object(t, tt.obj)
			}
			if tt.old != "" {
				req.OldObject = object(t, tt.old)
			}
			before := copyOf(req)
			res, err := e.Validate(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(req, before) {
				t.Error("the request was modified")
			}
			checkResult(t, res, tt.failure, tt.causes, tt.warnings)
			if res.Allowed != (tt.persisted != "") || res.Allowed != (res.Object != nil) {
				t.Fatalf("allowed %t: %v", res.Allowed, res.Failure)
			}
			if res.Allowed && !reflect.DeepEqual(res.Object["spec"], value(t, tt.persisted)) {
				t.Errorf("persisted %v, want %s", res.Object["spec"], tt.persisted)
			}
		})
	}
}

func checkResult(t *testing.T, res *engine.Result, failure string, causes, warnings []string) {
	t.Helper()
	var got []string
	for _, c := range res.Causes {
		got = append(got, string(c.Reason)+" "+c.Field+": "+c.Message)
	}
	if !sameSet(got, causes) {
		t.Errorf("causes:\ngot  %q\nwant %q", got, causes)
	}
	if !reflect.DeepEqual(res.Warnings, warnings) {
		t.Errorf("warnings: got %q, want %q", res.Warnings, warnings)
	}
	switch {
	case failure != "":
		if res.Failure == nil || res.Failure.Code != 400 || res.Failure.Reason != "BadRequest" || !strings.HasPrefix(res.Failure.Message, failure) {
			t.Errorf("got %v, want a 400: %s", res.Failure, failure)
		}
	case len(causes) > 0:
		if res.Failure == nil || res.Failure.Code != 422 || res.Failure.Reason != "Invalid" || len(res.Failure.Details.Causes) != len(causes) {
			t.Errorf("got %v, want a 422", res.Failure)
		}
	case res.Failure != nil:
		t.Errorf("got %v, want none", res.Failure)
	}
}

func sameSet(a, b []string) bool {
	count := map[string]int{}
	for _, s := range a {
		count[s]++
	}
	for _, s := range b {
		count[s]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

func copyOf(req engine.Request) engine.Request {
	if req.Object != nil {
		req.Object = runtime.DeepCopyJSON(req.Object)
	}
	if req.OldObject != nil {
		req.OldObject = runtime.DeepCopyJSON(req.OldObject)
	}
	if req.Raw != nil {
		req.Raw = append([]byte{}, req.Raw...)
	}
	return req
}

func TestValidateOrder(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, widgets)
	req := engine.Request{Object: object(t, widget(`{size: 700, labels: {b: 11, a: 10, c: 12}, tags: [x, x, x], y: 1, x: 1}`)), Trace: true}
	var first []byte
	for range 100 {
		res, err := e.Validate(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = data
		}
		if string(data) != string(first) {
			t.Fatalf("got %s\nthen %s", first, data)
		}
	}
}

func TestValidateRequests(t *testing.T) {
	t.Parallel()
	obj, old := object(t, widget(`{size: 1}`)), object(t, widget(`{size: 1}`))
	tests := []struct {
		name string
		req  engine.Request
		want string
	}{
		{"nothing", engine.Request{}, "request: no object: want Object or Raw"},
		{"both", engine.Request{Object: obj, Raw: []byte(`{}`)}, "request: Object and Raw both given: want only one of them"},
		{"subresource", engine.Request{Object: obj, Subresource: "exec"}, `request: subresource "exec": want "", "status" or "scale"`},
		{"status of nothing", engine.Request{Object: obj, Subresource: "status"}, "request: subresource status: want an old object"},
		{"status that is not there", engine.Request{Object: object(t, `{apiVersion: example.org/v1beta1, kind: Widget, metadata: {name: w, namespace: d}}`), OldObject: old, Subresource: "status"}, "request: subresource status: version v1beta1 does not have it"},
		{"field validation", engine.Request{Object: obj, FieldValidation: "warn"}, `request: field validation "warn": want Strict, Warn or Ignore`},
		{"int", engine.Request{Object: map[string]any{"kind": "Widget", "spec": map[string]any{"b": []any{int64(1), 2}}}}, "spec.b[1]: Go type int in the request's object (want a type that engine.Decode returns"},
		{"json.Number", engine.Request{Object: map[string]any{"a": json.Number("1")}}, "a: Go type json.Number"},
		{"strings", engine.Request{Object: map[string]any{"a": []string{"b"}}}, "a: Go type []string"},
		{"struct", engine.Request{Object: map[string]any{"a": struct{}{}}}, "a: Go type struct {}"},
		{"old", engine.Request{Object: obj, OldObject: map[string]any{"a": uint8(1)}}, "a: Go type uint8"},
	}
	e := mustCompile(t, widgets)
	for _, tt := range tests {
		res, err := e.Validate(t.Context(), tt.req)
		if res != nil || err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v, %v, want %q", tt.name, res, err, tt.want)
		}
	}
}

func TestValidateCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res, err := mustCompile(t, widgets).Validate(ctx, engine.Request{Object: object(t, widget(`{size: 1}`))})
	if res != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", res, err)
	}
}

// The server does not decode the result of server-side apply again, so nulls are kept and rejected.
func TestMerged(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, widgets)
	for _, merged := range []bool{false, true} {
		obj := object(t, widget(`{size: 2}`))
		obj["spec"].(map[string]any)["tags"] = nil
		res, err := e.Validate(t.Context(), engine.Request{Object: obj, Merged: merged, FieldValidation: "Strict"})
		if err != nil || res.Allowed == merged {
			t.Errorf("null, merged %v: got %+v, %v", merged, res, err)
		}
	}
	obj := object(t, widget(`{size: 2}`))
	obj["unknown"] = int64(1)
	res, err := e.Validate(t.Context(), engine.Request{Object: obj, Merged: true, FieldValidation: "Strict"})
	if err != nil || !res.Allowed || res.Object["unknown"] != nil {
		t.Errorf("unknown field: got %+v, %v", res, err)
	}
}

func TestStored(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, `{metadata: {name: boats.x.io}, spec: {group: x.io, names: {kind: Boat, plural: boats}, scope: Namespaced,
		versions: [
			{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {
				spec: {type: object, properties: {a: {type: string}, b: {type: string, default: x}}},
				status: {type: object, default: {at: home}, properties: {at: {type: string}}}}}}},
			{name: v2, served: true, storage: false, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {
				spec: {type: object, properties: {a: {type: string}, c: {type: string, default: "y"}}}}}}}]}}`)
	for version, want := range map[string][2]string{
		"v1": {`{"spec":{"a":"1","b":"x"}}`, `{"spec":{"a":"1","b":"x"},"status":{"at":"home"}}`},
		"v2": {`{"spec":{"a":"1"}}`, `{"spec":{"a":"1"}}`},
	} {
		res, err := e.Validate(t.Context(), engine.Request{Object: object(t, `{apiVersion: x.io/`+version+`, kind: Boat, metadata: {name: a}, spec: {a: "1"}}`)})
		if err != nil || !res.Allowed {
			t.Fatal(res, err)
		}
		for i, got := range []map[string]any{res.Stored, res.Object} {
			got = maps.Clone(got)
			if asked := "x.io/" + []string{"v1", version}[i]; got["apiVersion"] != asked {
				t.Errorf("%s: got %v, want %s", version, got["apiVersion"], asked)
			}
			for _, name := range []string{"apiVersion", "kind", "metadata"} {
				delete(got, name)
			}
			if data, err := json.Marshal(got); err != nil || string(data) != want[i] {
				t.Errorf("%s: got %s, %v, want %s", version, data, err, want[i])
			}
		}
	}
}

func TestUnread(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, widgets)
	for _, tt := range []struct{ object, want string }{
		{widget(`{size: 1}`), "<nil>"},
		{widget(`{size: 1, more: 2}`), `strict decoding error: unknown field "spec.more"`},
		{`{"metadata":{}}`, `Object 'Kind' is missing in '{"metadata":{}}'`},
	} {
		res, err := e.Validate(t.Context(), engine.Request{Object: object(t, tt.object), FieldValidation: "Strict"})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(res.Unread); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.object, got, tt.want)
		}
		if res.Unread != nil && !strings.Contains(res.Failure.Message, tt.want) {
			t.Errorf("%s: got %s", tt.object, res.Failure.Message)
		}
	}
}

func TestPatchedOwners(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, widgets)
	obj := object(t, widget(`{size: 1}`))
	owner := map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}
	obj["metadata"].(map[string]any)["ownerReferences"] = []any{owner, owner}
	obj["metadata"].(map[string]any)["finalizers"] = []any{"plain"}
	for _, req := range []engine.Request{{}, {Patched: true}, {Merged: true}} {
		req.Object = obj
		res, err := e.Validate(t.Context(), req)
		if err != nil || len(res.Warnings) != 2 || strings.Contains(res.Warnings[0], "entries after mutating") != (req.Patched || req.Merged) {
			t.Errorf("got %v, %v", res, err)
		}
		p, err := e.Prepare(req)
		if err != nil || len(p.Warnings) != 1 || p.Warnings[0] != res.Warnings[0] {
			t.Errorf("got %v, %v", p, err)
		}
	}
}
