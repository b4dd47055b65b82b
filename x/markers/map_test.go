package markers

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// mapFiles is an API with many ways from a schema to a marker.
var mapFiles = map[string]string{
	"api/v1/doc.go": `// +groupName=example.com
package v1
`,
	"api/v1/types.go": `package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/shared/names"
	other "example.com/shared/v2"
)

// +kubebuilder:validation:XValidation:rule="self.metadata.name != 'root'"

// Thing is one.
// +kubebuilder:object:root=true
type Thing struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
	Spec              ThingSpec ` + "`json:\"spec\"`" + ` // +kubebuilder:validation:XValidation:rule="trailing"
}

type (
	// ThingSpec is of a group.
	// +kubebuilder:validation:XValidation:rule="has(self.list)"
	ThingSpec struct {
		Common ` + "`json:\",inline\"`" + `

		// +kubebuilder:validation:XValidation:rule="self.size() < 9"

		// List has a free comment above its own.
		// +kubebuilder:validation:items:XValidation:rule="self != 'item'"
		List []string ` + "`json:\"list\"`" + `

		// +kubebuilder:validation:XValidation:rule="self != 'same'",message="of a"
		A Name ` + "`json:\"a\"`" + `
		// +kubebuilder:validation:XValidation:rule="self != 'same'",message="of b"
		B *Name ` + "`json:\"b\"`" + `
		ByName map[string][]*Deep ` + "`json:\"byName\"`" + `
		Alias  Renamed ` + "`json:\"alias\"`" + `
		Far    other.Far ` + "`json:\"far\"`" + `
		Named  names.Name ` + "`json:\"named\"`" + `
		// +k8s:immutable
		Fixed string ` + "`json:\"fixed,omitempty\"`" + `
		Hidden Deep ` + "`json:\"-\"`" + `
	}
)

// +kubebuilder:validation:XValidation:rule="self != 'name'"
type Name string

type Renamed = Deep

// Deep is deep.
// +kubebuilder:validation:ExactlyOneOf=x;y
type Deep struct {
	X    string ` + "`json:\"x,omitempty\"`" + `
	Y    string ` + "`json:\"y,omitempty\"`" + `
	Self *Deep  ` + "`json:\"self,omitempty\"`" + `
}

// +kubebuilder:validation:XValidation:rule="self.c != self.d"
type Common struct {
	// +kubebuilder:validation:XValidation:rule="self != 'c'"
	C string ` + "`json:\"c\"`" + `
	Common2 ` + "`json:\",inline\"`" + `
}

type Common2 struct {
	// +kubebuilder:validation:XValidation:rule="self != 'd'"
	D string ` + "`json:\"d\"`" + `
	*Common ` + "`json:\",inline\"`" + `
}
`,
	"names/names.go": `package names

// +kubebuilder:validation:XValidation:rule="self != 'named'"
type Name string
`,
	"v2/far.go": `package v2

type Far struct {
	// +kubebuilder:validation:XValidation:rule="self != 'far'"
	F string ` + "`json:\"f\"`" + `
}
`,
}

const mapCRD = `
spec:
  group: example.com
  names: {kind: Thing}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        x-kubernetes-validations: [{rule: "self.metadata.name != 'root'"}]
        properties:
          spec:
            x-kubernetes-validations:
            - rule: "self.c != self.d"
            - rule: has(self.list)
            - rule: "!has(oldSelf.fixed) || has(self.fixed)"
            properties:
              list: {x-kubernetes-validations: [{rule: self.size() < 9}], items: {x-kubernetes-validations: [{rule: "self != 'item'"}]}}
              a: {x-kubernetes-validations: [{rule: "self != 'name'"}, {rule: "self != 'same'", message: of a}]}
              b: {x-kubernetes-validations: [{rule: "self != 'name'"}, {rule: "self != 'same'", message: of b}]}
              byName: {additionalProperties: {items: {x-kubernetes-validations: [{rule: "(has(self.x)?1:0)+(has(self.y)?1:0) == 1"}], properties: {self: {x-kubernetes-validations: [{rule: "(has(self.x)?1:0)+(has(self.y)?1:0) == 1"}]}}}}}
              alias: {x-kubernetes-validations: [{rule: "(has(self.x)?1:0)+(has(self.y)?1:0) == 1"}]}
              far: {properties: {f: {x-kubernetes-validations: [{rule: "self != 'far'"}]}}}
              named: {x-kubernetes-validations: [{rule: "self != 'named'"}]}
              fixed: {x-kubernetes-validations: [{rule: self == oldSelf}, {rule: "nobody's"}]}
              c: {x-kubernetes-validations: [{rule: "self != 'c'"}]}
              d: {x-kubernetes-validations: [{rule: "self != 'd'"}]}
`

func readCRD(t *testing.T, text string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(text), crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func fileOf(name, importPath string) File {
	return File{Name: name, Package: importPath, Text: []byte(mapFiles[name])}
}

func TestMap(t *testing.T) {
	t.Parallel()
	lookups := map[string]int{}
	src := Parse([]File{fileOf("api/v1/doc.go", "example.com/api/v1"), fileOf("api/v1/types.go", "example.com/api/v1")}, Config{
		Import: func(path string) ([]File, error) {
			lookups[path]++
			switch path {
			case "example.com/shared/names":
				return []File{fileOf("names/names.go", "")}, nil
			case "example.com/shared/v2":
				return []File{fileOf("v2/far.go", "")}, nil
			}
			return nil, errors.New("no such package")
		},
	})
	if len(src.Problems()) > 0 {
		t.Fatal(src.Problems())
	}
	m := src.Map(readCRD(t, mapCRD))
	if len(m.Rules) != 19 {
		t.Errorf("%d rules, want 19", len(m.Rules))
	}
	for _, r := range m.Rules {
		switch {
		case r.Text == "nobody's":
			if r.Marker != nil {
				t.Errorf("%s: got the marker of %s.%s, want none", r.Field, r.Marker.Type, r.Marker.Field)
			}
			continue
		case r.Marker == nil || len(r.Others) > 0:
			t.Errorf("%s: %s: marker %v, others %v: want one", r.Field, r.Text, r.Marker, r.Others)
			continue
		}
		p := r.Marker.At("rule", 1, 1)
		line := strings.Split(mapFiles[p.File], "\n")[p.Line-1]
		if r.Marker.Made == "" && !strings.HasPrefix(line[p.Column-1:], r.Text) {
			t.Errorf("%s: %+v: %q is not %q", r.Field, p, line, r.Text)
		}
		if r.Marker.Made != "" && !strings.HasPrefix(line[p.Column-1:], "+") {
			t.Errorf("%s: %+v: %q is no marker", r.Field, p, line)
		}
	}
	if m.Rule("spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[b].x-kubernetes-validations[1].rule").Marker.Field != "B" {
		t.Error("the message does not tell one of two markers with the same text")
	}
	if fmt.Sprint(lookups) != "map[example.com/shared/names:1 example.com/shared/v2:1]" {
		t.Errorf("asked for %v", lookups)
	}
}

func TestMapMissing(t *testing.T) {
	t.Parallel()
	src := Parse([]File{fileOf("api/v1/types.go", "example.com/api/v1")}, Config{})
	var missing []string
	for _, r := range src.Map(readCRD(t, mapCRD)).Rules {
		if r.Missing != "" {
			missing = append(missing, r.Missing)
		}
	}
	if want := "[example.com/shared/v2 example.com/shared/names]"; fmt.Sprint(missing) != want {
		t.Errorf("missing %v, want %s", missing, want)
	}
}

func TestBound(t *testing.T) {
	t.Parallel()
	src := Parse([]File{fileOf("api/v1/types.go", "example.com/api/v1")}, Config{})
	crd := readCRD(t, mapCRD)
	for _, c := range []struct{ field, of string }{
		{"properties[list]", "ThingSpec.list"},
		{"properties[list].items", "ThingSpec.list items"},
		{"properties[a]", "ThingSpec.a"},
		{"properties[c]", "Common.c"},
		{"properties[byName].additionalProperties.items", "Deep"},
		{"properties[byName].additionalProperties", ""}, // a list in a map has no name
		{"properties[none]", ""},
	} {
		b := src.Bound(crd, "spec.versions[0].schema.openAPIV3Schema.properties[spec]."+c.field)
		got := ""
		if b != nil {
			got = b.Of
			if b.Items {
				got += " items"
			}
		}
		if got != c.of {
			t.Errorf("%s: got %q, want %q", c.field, got, c.of)
		}
	}
}

func TestMapUnknown(t *testing.T) {
	t.Parallel()
	const rule = "// +kubebuilder:validation:XValidation:rule=\"self != 'x'\"\n"
	const crd = "spec: {group: example.com, names: {kind: T}, versions: [{name: v1, schema: {openAPIV3Schema: {properties: {a: {properties: {b: {x-kubernetes-validations: [{rule: \"self != 'x'\"}]}}}}}}}]}"
	for field, want := range map[string]string{
		"A struct {\n\t\tB string `json:\"b\"`\n\t} `json:\"a\"`": "Elsewhere", // an anonymous struct
		"A Generic[string] `json:\"a\"`":                          "Elsewhere",
		"A Undeclared `json:\"a\"`":                               "Elsewhere",
		"A Plain `json:\"a\"`":                                    "none",
		"A time.Time `json:\"a\"`":                                "none",
		"A metav1.Time `json:\"a\"`":                              "none",
		"A inhouse.A `json:\"a\"`":                                "A", // in a module without a dot in its name
		"A scheduling.A `json:\"a\"`":                             "A", // k8s.io/api also has markers
		"A gone.A `json:\"a\"`":                                   "Elsewhere",
		"Other Plain `json:\"other\"`":                            "none",
	} {
		text := "package v1\n\nimport (\n\t\"time\"\n\t\"inhouse\"\n\tscheduling \"k8s.io/api/scheduling/v1beta1\"\n\t\"example.com/gone\"\n\tmetav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n)\n\ntype T struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n\t" + field + "\n}\n\ntype Plain struct {\n\tB string `json:\"b\"`\n}\n\n" + rule + "type Elsewhere string\n"
		src := Parse([]File{{Name: "t.go", Package: "operator/api/v1", Text: []byte(text)}}, Config{Import: func(path string) ([]File, error) {
			if path != "inhouse" && path != "k8s.io/api/scheduling/v1beta1" {
				return nil, errors.New("no such package")
			}
			return []File{{Name: "a.go", Text: []byte("package inhouse\n\ntype A struct {\n\t" + rule + "\tB string `json:\"b\"`\n}\n")}}, nil
		}})
		got := "none"
		if r := src.Map(readCRD(t, crd)).Rules[0]; r.Marker != nil {
			got = r.Marker.Type
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", field, got, want)
		}
	}
}

func TestRoot(t *testing.T) {
	t.Parallel()
	const rule = "// +kubebuilder:validation:XValidation:rule=\"true\"\n"
	const kind = "type T struct {\n\tTypeMeta `json:\",inline\"`\n}\n"
	const group = "// +groupName=example.com\n"
	crd := readCRD(t, `
spec:
  group: example.com
  names: {kind: T}
  versions:
  - {name: v1, schema: {openAPIV3Schema: {x-kubernetes-validations: [{rule: "true"}]}}}
  - {name: v1beta1, schema: {openAPIV3Schema: {x-kubernetes-validations: [{rule: "true"}]}}}
`)
	for name, c := range map[string]struct{ text, want string }{
		"of its version":  {group + "package v1\n" + rule + kind, "v1"},
		"of another":      {group + "package v1beta1\n" + rule + kind, "v1beta1"},
		"named":           {group + "// +versionName=v1\npackage api\n" + rule + kind, "v1"},
		"without version": {group + "package api\n" + rule + kind, "v1 v1beta1"},
		"without group":   {"package v1\n" + rule + kind, "v1"},
		"another group":   {"// +groupName=example.org\npackage v1\n" + rule + kind, ""},
		"no kind":         {group + "package v1\n" + rule + "type T struct{}\n", ""},
		"as another":      {group + "package v1beta1\n\ntype T U\n\n" + rule + strings.Replace(kind, "T", "U", 1), "v1beta1"},
		"of a dependency": {"package v1\n\nimport \"example.com/dep\"\n\ntype Other struct {\n\tTypeMeta `json:\",inline\"`\n\tA dep.A `json:\"a\"`\n}\n", ""},
	} {
		src := Parse([]File{{Name: "t.go", Package: "example.com/p", Text: []byte(c.text)}}, Config{Import: func(string) ([]File, error) {
			return []File{{Name: "d.go", Text: []byte(group + "package v1\n" + rule + kind + "\ntype A string\n")}}, nil
		}})
		src.load("example.com/dep")
		var got []string
		for _, r := range src.Map(crd).Rules {
			if r.Marker != nil {
				got = append(got, r.Version)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
