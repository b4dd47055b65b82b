package admission_test

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/celadon-cel/celadon/engine/admission"
)

func TestMutate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		req  *admissionv1.AdmissionRequest
		want string
	}{
		"all":                    {create(""), `[{"op":"add","path":"/spec","value":{"size":1}}]`},
		"one":                    {create(`"spec":{}`), `[{"op":"add","path":"/spec/size","value":1}]`},
		"null where none may be": {create(`"spec":{"size":null}`), `[{"op":"add","path":"/spec/size","value":1}]`},
		"items": {create(`"spec":{"size":2,"parts":[{"name":"a","count":1},{"name":"b"}]}`),
			`[{"op":"add","path":"/spec/parts/1/count","value":2}]`},
		"values of a map, escaped": {create(`"spec":{"size":2,"labels":{"a/b~c":{},"d":{"value":"y"}}}`),
			`[{"op":"add","path":"/spec/labels/a~1b~0c/value","value":"x"}]`},
		"unknown fields stay":          {create(`"spec":{"size":2,"other":{}}`), ""},
		"wrong types stay":             {create(`"spec":{"size":2,"parts":"none","labels":[]}`), ""},
		"nothing to do":                {create(`"spec":{"size":2}`), ""},
		"status is not the request's":  {create(`"spec":{"size":2},"status":{}`), ""},
		"only status is the request's": {status(`"status":{}`, ""), `[{"op":"add","path":"/status/ready","value":0}]`},
		"delete":                       {with(create(""), func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Delete }), ""},
		"update":                       {update(`"spec":{}`, ""), `[{"op":"add","path":"/spec/size","value":1}]`},
		"refused later":                {create(`"spec":{"size":99,"parts":[{}]}`), `[{"op":"add","path":"/spec/parts/0/count","value":2}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := widgetSet(t, admission.Config{}).Mutate(t.Context(), c.req)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(d.Response.Patch); got != c.want || !d.Response.Allowed {
				t.Errorf("allowed %t, patch\n%s\nwant\n%s", d.Response.Allowed, got, c.want)
			}
			if (d.Response.PatchType != nil) != (c.want != "") {
				t.Errorf("patch type %v", d.Response.PatchType)
			}
		})
	}
}

func TestMutateOnlyTells(t *testing.T) {
	t.Parallel()
	for _, mode := range []admission.Mode{admission.Warn, admission.Audit} {
		d, err := widgetSet(t, admission.Config{Mode: mode}).Mutate(t.Context(), create(`"spec":{}`))
		if err != nil {
			t.Fatal(err)
		}
		if d.Response.Patch != nil || d.Response.AuditAnnotations[admission.AuditDefaults] != "/spec/size" {
			t.Errorf("%s: %s", mode, asJSON(d.Response))
		}
	}
}

func TestMutateNoObject(t *testing.T) {
	t.Parallel()
	req := with(create(""), func(r *admissionv1.AdmissionRequest) {
		r.Object.Raw = []byte(strings.Replace(string(r.Object.Raw), `"name":"w"`, `"name":7`, 1))
	})
	d, err := widgetSet(t, admission.Config{}).Mutate(t.Context(), req)
	if err != nil || !d.Response.Allowed || len(d.Response.Warnings) != 1 {
		t.Errorf("%v, %s", err, asJSON(d))
	}
}
