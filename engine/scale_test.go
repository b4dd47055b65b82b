package engine_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

const scalable = `
metadata: {name: pools.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {plural: pools, singular: pool, kind: Pool, listKind: PoolList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.nodes.count, statusReplicasPath: .status.count, labelSelectorPath: .status.selector}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              color: {type: string, default: blue}
              nodes: {type: object, properties: {count: {type: integer, maximum: 9, x-kubernetes-validations: [{rule: "self >= oldSelf - 2", message: too fast}]}}}
          status: {type: object, properties: {count: {type: integer}, selector: {type: string}}}
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// The conformance cases scale-* check the same on a real server.
func TestScale(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, scalable)
	pool := func(more string) string {
		return `{apiVersion: example.org/v1, kind: Pool, metadata: {name: a, namespace: d}, ` + more + `}`
	}
	scale := func(more string) string {
		return `{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: a, namespace: d}, ` + more + `}`
	}
	five := pool(`spec: {color: red, nodes: {count: 5}}, status: {count: 5, selector: a=b}`)
	for name, tt := range map[string]struct{ obj, old, validation, want string }{
		"a Scale":              {scale(`spec: {replicas: 4}`), five, "", "4"},
		"a custom resource":    {pool(`spec: {color: green, nodes: {count: 7}}, status: {count: 1}`), five, "", "7"},
		"the status of both":   {scale(`spec: {replicas: 4}, status: {replicas: 77}`), five, "", "4"},
		"none before":          {scale(`spec: {replicas: 4}`), pool(`spec: {color: red}`), "", "4"},
		"no spec before":       {scale(`spec: {replicas: 4}`), pool(`status: {}`), "", "4"},
		"no replicas given":    {scale(`spec: {}`), pool(`spec: {nodes: {count: 1}}`), "", "0"},
		"the schema refuses":   {scale(`spec: {replicas: 10}`), five, "", "422 spec.nodes.count"},
		"a rule refuses":       {scale(`spec: {replicas: 2}`), five, "", "422 too fast"},
		"negative":             {scale(`spec: {replicas: -1}`), pool(`spec: {}`), "", "422 should be a non-negative integer"},
		"the smallest":         {scale(`spec: {replicas: -2147483648}`), five, "", `400 the spec replicas field ".spec.nodes.count" cannot be empty`},
		"a text":               {scale(`spec: {replicas: x}`), five, "", "400 no kind is registered for the type v1.Scale"},
		"too large":            {scale(`spec: {replicas: 2147483648}`), five, "", "400 no kind is registered for the type v1.Scale"},
		"a text in a resource": {pool(`spec: {nodes: {count: x}}`), five, "", "not checked: the object has no integer at .spec.nodes.count to scale to"},
		"strict":               {scale(`spec: {replicas: 4, x: 1}`), five, "Strict", "400 no kind is registered for the type v1.Scale"},
		"lenient":              {scale(`spec: {replicas: 4, x: 1}`), five, "Ignore", "4"},
		"another version":      {strings.Replace(scale(`spec: {replicas: 4}`), "scaling/v1", "scaling/v2", 1), five, "", "400 no kind is registered"},
		"an older version":     {strings.Replace(scale(`spec: {replicas: 4}`), "autoscaling/v1", "extensions/v1beta1", 1), five, "", "400 no kind is registered"},
		"another namespace":    {strings.Replace(scale(`spec: {replicas: 4}`), "namespace: d", "namespace: e", 1), five, "", "4"},
		"a bad selector":       {scale(`spec: {replicas: 4}`), pool(`status: {selector: 1}`), "", "500 .status.selector accessor error"},
		"a bad count":          {scale(`spec: {replicas: 4}`), pool(`spec: {nodes: {count: x}}`), "", "500 .spec.nodes.count accessor error"},
		"nothing to scale to":  {pool(`spec: {}`), five, "", "not checked: the object has no integer at .spec.nodes.count to scale to"},
		"no such subresource":  {strings.Replace(pool(`spec: {}`), "org/v1", "org/v2", 1), five, "", "request: subresource scale: version v2 does not have it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := object(t, tt.old)
			req := engine.Request{Object: object(t, tt.obj), OldObject: old, Subresource: "scale", FieldValidation: tt.validation}
			before := object(t, tt.old)
			res, err := e.Validate(t.Context(), req)
			got := scaleVerdict(res, err)
			number, words, _ := strings.Cut(tt.want, " ")
			if !strings.HasPrefix(got, number) || !strings.Contains(got, words) {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
			if !reflect.DeepEqual(old, before) {
				t.Error("the old object was changed")
			}
			if res == nil || !res.Allowed {
				return
			}
			if kept, want := res.Object["status"], before["status"]; !reflect.DeepEqual(kept, want) {
				t.Errorf("status %v: want %v", kept, want)
			}
		})
	}
}

func scaleVerdict(res *engine.Result, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case !res.Allowed:
		return strings.TrimSpace(string([]byte{byte('0' + res.Failure.Code/100), byte('0' + res.Failure.Code/10%10), byte('0' + res.Failure.Code%10)}) + " " + res.Failure.Message)
	}
	nodes := res.Object["spec"].(map[string]any)["nodes"].(map[string]any)
	return plainNumber(nodes["count"])
}

func plainNumber(v any) string {
	n, ok := v.(int64)
	if !ok || n < 0 || n > 9 {
		return "no number of one digit"
	}
	return string(rune('0' + n))
}

func TestScaleRequests(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, scalable)
	obj := object(t, `{apiVersion: autoscaling/v1, kind: Scale, spec: {replicas: 1}}`)
	if _, err := e.Validate(t.Context(), engine.Request{Object: obj, Subresource: "scale"}); err == nil || err.Error() != "request: subresource scale: want an old object" {
		t.Errorf("without an old object: %v", err)
	}
	raw := []byte(`{"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a", "namespace": "d"}, "spec": {"replicas": 4, "replicas": 4, "x": 1}}`)
	old := object(t, `{apiVersion: example.org/v1, kind: Pool, metadata: {name: a, namespace: d}, spec: {nodes: {count: 3}}}`)
	res, err := e.Validate(t.Context(), engine.Request{Raw: raw, OldObject: old, Subresource: "scale"})
	if err != nil || len(res.Strict) != 2 || !res.Strict[0].Duplicate || res.Strict[1].Duplicate {
		t.Errorf("a duplicate and an unknown field: %+v, %v", res, err)
	}
	_, err = e.Validate(t.Context(), engine.Request{Object: map[string]any{"a": 1}, OldObject: obj, Subresource: "scale"})
	var bug *engine.InternalError
	if err == nil || errors.As(err, &bug) {
		t.Errorf("an object of another Go type: %v", err)
	}
}

// A CRD that was stored long ago can preserve unknown fields. Its schema may be missing or lack types. Defaults still
// apply.
func TestOpenVersions(t *testing.T) {
	t.Parallel()
	const crd = `
metadata: {name: olds.example.org}
spec:
  group: example.org
  scope: Namespaced
  preserveUnknownFields: true
  names: {plural: olds, singular: old, kind: Old, listKind: OldList}
  versions:
  - name: v1
    served: true
    storage: true
`
	const loose = `
    schema: {openAPIV3Schema: {properties: {spec: {required: [a], properties: {a: {type: integer, minimum: 2}, b: {default: 7}}}}}}
`
	obj := func(spec string) map[string]any {
		return object(t, `{apiVersion: example.org/v1, kind: Old, metadata: {name: a, namespace: d, unknown: 1}, more: 1, spec: `+spec+`}`)
	}
	for _, tt := range []struct {
		schema, spec, kept string
	}{{"", "{x: null}", "{x: null}"}, {loose, "{a: 2, x: 1}", "{a: 2, x: 1, b: 7}"}, {loose, "{a: 1}", ""}, {loose, "{}", ""}, {loose, "{a: 3, b: null, x: null}", "{a: 3, b: 7, x: null}"}} {
		res, err := mustCompile(t, crd+tt.schema).Validate(t.Context(), engine.Request{Object: obj(tt.spec)})
		if err != nil || res.Allowed != (tt.kept != "") {
			t.Errorf("%s%s: %+v, %v: want %q", tt.schema, tt.spec, res, err, tt.kept)
		} else if res.Allowed && (!reflect.DeepEqual(res.Object["spec"], obj(tt.kept)["spec"]) || res.Object["more"] == nil) {
			t.Errorf("%s: kept %v: want %v", tt.spec, res.Object, tt.kept)
		}
	}
}
