package vet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/types"
)

// spec is added to the spec, version to its version, and status to the CRD; schema is the schema of spec in objects.
func minorCRD(t *testing.T, schema, version, spec, status string) []byte {
	t.Helper()
	text := fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ws.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: ws, singular: w, kind: W, listKind: WList}
  %s
  versions:
  - name: v1
    served: true
    storage: true
    %s
    schema: {openAPIV3Schema: {type: object, properties: {spec: %s}}}
%s
`, spec, version, schema, status)
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return raw
}

func decodeMinorCRD(t *testing.T, raw []byte) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(raw, crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func causesOf(r *Report) string {
	var list []string
	for _, c := range r.Causes {
		list = append(list, c.Field+": "+c.Message)
	}
	if r.Status != nil && len(list) == 0 {
		list = append(list, r.Status.Message)
	}
	return strings.Join(list, "\n")
}

const inSpec = "spec.versions[0].schema.openAPIV3Schema.properties[spec]"

// The expected errors are from the sources of each version.
func TestSchemasOfMinor(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, schema string
		from, to     int // versions that reject it, both inclusive
		want         string
	}{
		{ // pkg/apiserver/schema/validation.go:294 of 0.30
			name: "closed junctor", schema: `{type: object, properties: {a: {type: object, additionalProperties: {type: string}, not: {additionalProperties: false}}}}`,
			from: 28, to: 30, want: ".properties[a].not.additionalProperties: Forbidden: must be undefined to be structural",
		},
		{
			name: "closed junctor below a junctor", schema: `{type: object, properties: {a: {type: string}}, allOf: [{anyOf: [{additionalProperties: false}]}]}`,
			from: 28, to: 30, want: ".allOf[0].anyOf[0].additionalProperties: Forbidden: must be undefined to be structural",
		},
		{
			name: "open junctor", schema: `{type: object, additionalProperties: {type: string}, not: {additionalProperties: true}}`,
			from: 28, to: 37, want: ".not.additionalProperties: Forbidden: must be undefined to be structural",
		},
		{ // kube-openapi, pkg/validation/validate/schema.go:220 of 1.36
			name: "fractional minimum", schema: `{type: object, properties: {a: {type: integer, minimum: 0.5, default: 1}}}`,
			from: 36, to: 37, want: `.properties[a].default: Invalid value: "": Minimum boundary value must be of type integer (default format) in `,
		},
		{ // an int is compared with int64(0.5)
			name: "default below a fractional minimum", schema: `{type: object, properties: {a: {type: integer, minimum: 0.5, default: 0}}}`,
			from: 36, to: 37, want: `Minimum boundary value must be of type integer`,
		},
		{
			name: "default below a truncated minimum", schema: `{type: object, properties: {a: {type: integer, minimum: 1.5, default: 0}}}`,
			from: 28, to: 37, want: `.properties[a].default`,
		},
		{
			name: "int32", schema: `{type: object, properties: {a: {type: integer, format: int32, default: 3000000000}}}`,
			from: 36, to: 37, want: `Checked value must be of type integer with format int32 in `,
		},
		{
			name: "float", schema: `{type: object, properties: {a: {type: number, format: float, default: 1.0e+39}}}`,
			from: 36, to: 37, want: `Checked value must be of type number with format float in `,
		},
		{ // kube-openapi, pkg/validation/strfmt/kubernetes-extensions.go of 1.34
			name: "short name", schema: `{type: object, properties: {a: {type: string, format: k8s-short-name, default: A_B}}}`,
			from: 34, to: 37, want: `.properties[a].default`,
		},
		{
			name: "rule in a schema that is not structural", schema: `{type: object, properties: {a: {type: string}}, not: {additionalProperties: false}, x-kubernetes-validations: [{rule: self.missing}]}`,
			from: 31, to: 37, want: "undefined field 'missing'",
		},
	}
	for _, tt := range tests {
		raw := minorCRD(t, tt.schema, "", "", "")
		for minor := types.Oldest; minor <= types.Newest; minor++ {
			for _, alone := range []bool{false, true} {
				r, err := Vet(context.Background(), raw, Config{KubeVersion: types.Version{Minor: minor}.String(), VerdictOnly: alone})
				if err != nil {
					t.Fatal(err)
				}
				rejects := tt.from <= minor && minor <= tt.to
				if found := strings.Contains(causesOf(r), tt.want); found != rejects || !rejects && !r.Accepted && tt.name != "rule in a schema that is not structural" {
					t.Errorf("%s in 1.%d: got %t, %s\nwant %t with %q", tt.name, minor, r.Accepted, causesOf(r), !rejects, tt.want)
				}
			}
		}
	}
}

func TestUpdatesOfMinor(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	costly := `{type: object, properties: {a: {type: array, maxItems: 50, items: {type: string, x-kubernetes-validations: [{rule: "self.matches('a.*b')"}]}}}}`
	message := `{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.a != 'x'", messageExpression: "%s ? 'a' : 'b'"}]}`
	changed := strings.Replace(message, "{type: object, ", "{type: object, description: changed, ", 1)
	address, format := "ip('::1').isLoopback()", "format.dns1123Label().validate('x').hasValue()"
	var nine strings.Builder
	var fields []string
	for i := range 9 {
		fmt.Fprintf(&nine, "f%d: {type: string}, ", i)
		fields = append(fields, fmt.Sprintf("{jsonPath: .spec.f%d}", i))
	}
	many := fmt.Sprintf("{type: object, properties: {%s}}", nine.String())
	selectable := fmt.Sprintf("selectableFields: [%s]", strings.Join(fields, ", "))
	webhook := `conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://example.com/", caBundle: %s}}}`
	tests := []struct {
		name     string
		now, old []byte
		from, to int
		want     string
	}{
		{ // validation.go:1118 of 0.28
			name: "cost of an unchanged rule", now: minorCRD(t, costly, "", "", ""), old: minorCRD(t, costly, "", "", ""),
			from: 28, to: 28, want: "estimated rule cost exceeds budget",
		},
		{ // validation.go:182 of 0.30: the messageExpression is compiled as a new one
			name: "unchanged messageExpression of 1.30", now: minorCRD(t, fmt.Sprintf(changed, address), "", "", ""), old: minorCRD(t, fmt.Sprintf(message, address), "", "", ""),
			from: 28, to: 30, want: "messageExpression compilation failed",
		},
		{ // validation.go:186 of 0.31
			name: "unchanged messageExpression of 1.31", now: minorCRD(t, fmt.Sprintf(changed, format), "", "", ""), old: minorCRD(t, fmt.Sprintf(message, format), "", "", ""),
			from: 28, to: 30, want: "messageExpression compilation failed",
		},
		{ // validation.go:600 of 0.31
			name: "invalid caBundle", now: minorCRD(t, "{type: object}", "", fmt.Sprintf(webhook, "eA=="), ""), old: minorCRD(t, "{type: object}", "", "", ""),
			from: 31, to: 37, want: "spec.conversion.webhookClientConfig.caBundle: Invalid value",
		},
		{ // validation.go:843 of 0.34, :874 of 0.35
			name: "unchanged selectableFields", now: minorCRD(t, many, selectable, "", ""), old: minorCRD(t, many, selectable, "", ""),
			from: 31, to: 34, want: "selectableFields: Too many: 9: must have at most 8 items",
		},
	}
	for _, tt := range tests {
		for minor := types.Oldest; minor <= types.Newest; minor++ {
			cfg := Config{KubeVersion: types.Version{Minor: minor}.String(), Old: decodeMinorCRD(t, tt.old)}
			r, err := VetCRD(context.Background(), decodeMinorCRD(t, tt.now), cfg)
			if err != nil {
				t.Fatal(err)
			}
			rejects := tt.from <= minor && minor <= tt.to
			if r.Accepted == rejects || strings.Contains(causesOf(r), tt.want) != rejects {
				t.Errorf("%s in 1.%d: got %t, %s\nwant %t with %q", tt.name, minor, r.Accepted, causesOf(r), !rejects, tt.want)
			}
		}
	}
}

// The fields are in pkg/apis/apiextensions/v1/types.go and types_jsonschema.go of apiextensions-apiserver.
func TestFieldsOfMinor(t *testing.T) {
	t.Parallel()
	schema := `{type: object, properties: {optionalOldSelf: {type: string}}, x-kubernetes-validations: [{rule: "oldSelf == oldSelf", optionalOldSelf: true, extra: 1}]}`
	status := "status: {observedGeneration: 1, conditions: [{type: A, status: 'True', observedGeneration: 1}]}"
	raw := minorCRD(t, schema, "selectableFields: [{jsonPath: .spec.optionalOldSelf}]", "", status)
	old := inSpec + ".x-kubernetes-validations[0].optionalOldSelf"
	tests := []struct {
		field string
		since int
	}{
		{old, 29}, {inSpec + ".x-kubernetes-validations[0].extra", 99}, {"spec.versions[0].selectableFields", 30},
		{"status.conditions[0].observedGeneration", 35}, {"status.observedGeneration", 35},
	}
	for minor := types.Oldest; minor <= types.Newest; minor++ {
		var want []string
		for _, tt := range tests {
			if minor < tt.since {
				want = append(want, fmt.Sprintf("unknown field %q", strings.ReplaceAll(tt.field, "properties[spec]", "properties.spec")))
			}
		}
		r, err := Vet(context.Background(), raw, Config{KubeVersion: types.Version{Minor: minor}.String()})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range r.Strict {
			got = append(got, e.Message)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("1.%d: got %q, want %q", minor, got, want)
		}
		lenient, err := Vet(context.Background(), raw, Config{KubeVersion: types.Version{Minor: minor}.String(), FieldValidation: "Ignore"})
		if err != nil || !lenient.Accepted {
			t.Errorf("1.%d: %v, %s", minor, err, causesOf(lenient))
		}
	}
}

// The warnings are in pkg/registry/customresourcedefinition/strategy.go.
func TestWarningsOfMinor(t *testing.T) {
	t.Parallel()
	raw := minorCRD(t, `{type: object, properties: {a: {type: string, format: x}, b: {type: integer, format: z}, c: {type: array, x-kubernetes-list-type: set, items: {type: object, x-kubernetes-map-type: atomic}}}}`, "", "", "")
	const set = `x-kubernetes-list-type: set for items of type "object" is not supported by server-side apply or CEL validation rules`
	for minor := types.Oldest; minor <= types.Newest; minor++ {
		r, err := Vet(context.Background(), raw, Config{KubeVersion: types.Version{Minor: minor}.String()})
		if err != nil || !r.Accepted {
			t.Fatalf("%v, %s", err, causesOf(r))
		}
		var want []string
		for _, w := range []struct {
			since int
			text  string
		}{{34, `unrecognized format "x"`}, {36, `unrecognized format "z"`}, {37, set}} {
			if minor >= w.since {
				want = append(want, w.text)
			}
		}
		if !slices.Equal(r.Warnings, want) {
			t.Errorf("1.%d: got %q, want %q", minor, r.Warnings, want)
		}
	}
}

// The texts are from pkg/apis/apiextensions/validation/validation.go of each version.
func TestTextsOfMinor(t *testing.T) {
	t.Parallel()
	rule := func(text string) []byte {
		return minorCRD(t, fmt.Sprintf("{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [%s]}", text), "", "", "")
	}
	service := "conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: '', namespace: ''}}}}"
	detail := "compilation failed: ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x\n | ^"
	tests := []struct {
		raw  []byte
		from map[int]string // first version with the text
	}{
		{rule(`{rule: "true", message: " "}`), map[int]string{28: `message: Invalid value: " ": message must be non-empty if specified`, 34: `message: Invalid value: " ": must be non-empty if specified`}},
		{rule(`{rule: "true", fieldPath: "b"}`), map[int]string{28: `fieldPath: Invalid value: "b": fieldPath must be a valid path`, 34: `fieldPath: Invalid value: "b": must be a valid path`}},
		{minorCRD(t, "{type: object}", "", service, ""), map[int]string{28: "service.name: Required value: service name is required", 34: "service.name: Required value\n"}},
		{
			minorCRD(t, `{type: object, properties: {a: {type: string, maxLength: 1, default: bb}}}`, "", "", ""),
			map[int]string{28: "default: Too long: may not be longer than 1\n", 32: "default: Too long: may not be more than 1 bytes\n", 34: "default: Too long: may not be more than 1 byte\n"},
		},
		{
			minorCRD(t, `{type: object, properties: {a: {type: array, items: {type: string}, maxItems: 1, default: [a, b]}}}`, "", "", ""),
			map[int]string{28: "default: Too many: 2: must have at most 1 items\n", 34: "default: Too many: 2: must have at most 1 item\n"},
		},
		{rule(`{rule: x}`), map[int]string{
			28: `rule: Invalid value: apiextensions.ValidationRule{Rule:"x", Message:"", MessageExpression:"", Reason:(*apiextensions.FieldValueErrorReason)(nil), FieldPath:""}: ` + detail,
			29: `rule: Invalid value: apiextensions.ValidationRule{Rule:"x", Message:"", MessageExpression:"", Reason:(*apiextensions.FieldValueErrorReason)(nil), FieldPath:"", OptionalOldSelf:(*bool)(nil)}: ` + detail,
			34: `rule: Invalid value: {"Rule":"x","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: ` + detail,
		}},
	}
	for _, tt := range tests {
		want := ""
		for minor := types.Oldest; minor <= types.Newest; minor++ {
			if text, ok := tt.from[minor]; ok {
				want = text
			}
			r, err := Vet(context.Background(), tt.raw, Config{KubeVersion: types.Version{Minor: minor}.String()})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(causesOf(r)+"\n", want) {
				t.Errorf("1.%d: got %s\nwant %s", minor, causesOf(r), want)
			}
			if r.Status == nil || len(r.Status.Details.Causes) != len(r.Causes) || !strings.Contains(r.Status.Message, r.Causes[0].Message) {
				t.Errorf("1.%d: got %+v", minor, r.Status)
			}
		}
	}
}
