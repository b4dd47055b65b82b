package schema

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// The engine's TestKubeVersions has more cases. The messages come from kube-openapi and k8s.io/apimachinery in each
// release.
func TestVersions(t *testing.T) {
	t.Parallel()
	const date = `"2024-01-01"`
	for _, tt := range []struct {
		schema, value string
		want          map[int][]string // by the first minor
	}{
		{`{"type":"array","minItems":1}`, `[]`, map[int][]string{
			28: {"<nil>: Invalid value: 0:  in body should have at least 1 items"},
			38: {"<nil>: Too few: 0: must have at least 1 item"},
		}},
		{`{"type":"object","minProperties":2}`, `{}`, map[int][]string{
			28: {"<nil>: Invalid value: 0:  in body should have at least 2 properties"},
			38: {"<nil>: Too few: 0: must have at least 2 items"},
		}},
		{`{"type":"object","format":"date"}`, date, map[int][]string{28: nil, 36: {`<nil>: Invalid value: "string":  in body must be of type object: "string"`}}},
		{`{"type":"array","format":"date"}`, date, map[int][]string{28: nil, 36: {`<nil>: Invalid value: "string":  in body must be of type array: "string"`}}},
		{`{"type":"object","format":"date"}`, `[]`, map[int][]string{28: nil, 36: {`<nil>: Invalid value: "array":  in body must be of type object: "array"`}}},
		{`{"type":"string","format":"int32"}`, `"a"`, map[int][]string{28: nil}},
		{`{"type":"string","format":"k8s-long-name"}`, `"A"`, map[int][]string{28: nil, 35: {`<nil>: Invalid value: "A":  in body must be of type k8s-long-name: "A"`}}},
		{`{"type":"integer","exclusiveMaximum":true,"maximum":1.5}`, `1`, map[int][]string{
			28: {"<nil>: Invalid value: 1:  in body should be less than 1"},
			36: {`<nil>: Invalid value: "": Maximum boundary value must be of type integer (default format) in `},
		}},
		{`{"type":"integer"}`, `2.0000000001`, map[int][]string{28: nil, 36: {`<nil>: Invalid value: "": Checked value must be of type integer (default format) in `}}},
	} {
		for minor := 28; minor <= 38; minor++ {
			s := compileFor(t, tt.schema, minor)
			var got []string
			for _, err := range s.Validate(nil, parse(t, tt.value)) {
				got = append(got, err.Error())
			}
			want := tt.want[28]
			for m := 28; m <= minor; m++ {
				if texts, ok := tt.want[m]; ok {
					want = texts
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("1.%d: %s, %s: %s", minor, tt.schema, tt.value, diff)
			}
		}
	}
}

func compileFor(t *testing.T, text string, minor int) *Schema {
	t.Helper()
	props, internal := &apiextensionsv1.JSONSchemaProps{}, &apiextensions.JSONSchemaProps{}
	if err := json.Unmarshal([]byte(text), props); err != nil {
		t.Fatal(err)
	}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props, internal, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Compile(props, structural, minor)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
