package builtin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/builtin"
)

func TestRandomIsConstant(t *testing.T) {
	for _, text := range []string{
		`{apiVersion: v1, kind: Namespace, metadata: {generateName: web-}}`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {generateName: web-}, data: {"bad key": x}}`,
		`{apiVersion: v1, kind: LimitRange, spec: {}}`,
		`{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: NodePort, ports: [{port: 80}, {port: 80}]}}`,
		`{apiVersion: batch/v1, kind: Job, metadata: {generateName: web-},
			spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}`,
		`{apiVersion: batch/v1, kind: Job, metadata: {name: web},
			spec: {selector: {matchLabels: {a: b}}, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}`,
	} {
		var first any
		for range 3 {
			res, err := builtin.Validate(t.Context(), builtin.Request{Object: object(t, text)})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = res
			}
			if diff := cmp.Diff(first, any(res)); diff != "" {
				t.Errorf("%s (-first +again):\n%s", text, diff)
			}
		}
	}
}

func TestMethods(t *testing.T) {
	req := builtin.Request{OldObject: object(t, deployment), Subresource: "status"}
	if res, err := builtin.Validate(t.Context(), req); err != nil || res.Failure.Code != 405 {
		t.Errorf("delete a status: %v %v", res, err)
	}
	req = builtin.Request{Object: object(t, deployment), Subresource: "status"}
	if res, err := builtin.Validate(t.Context(), req); err != nil || res.Failure.Code != 404 {
		t.Errorf("write a status without an object: %v %v", res, err)
	}
	req.Subresource = "other"
	if res, err := builtin.Validate(t.Context(), req); err != nil || res.Failure.Code != 404 {
		t.Errorf("write another subresource: %v %v", res, err)
	}
}
