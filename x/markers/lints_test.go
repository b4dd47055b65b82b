package markers

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const lintSource = `package v1

import "strings"

// Thing is a kind.
// +kubebuilder:validation:XValidation:rule="self.spec.mapped == 1"
// +kubebuilder:validation:XValidation:rule="self.spec.stale == 1"
type Thing struct {
	TypeMeta ` + "`json:\",inline\"`" + `
	Spec Spec ` + "`json:\"spec\"`" + `
}

// Spec is used.
// +kubebuilder:validation:XValidation:rule="self.a != ''",message="it's empty"
// +kubebuilder:validation:XValidation:rule="self.a != \"\"",message="''"
type Spec struct {
	// Fields' comments are left alone by gofmt.
	// +kubebuilder:validation:XValidation:rule="self != ''"
	A string ` + "`json:\"a\"`" + `
	// +kubebuilder:validation:XValidation:rule=self.all(x, x > 1)
	B string ` + "`json:\"b\"`" + `
	// +kubebuilder:validation:XValidation:rule="self == "b"",message="m"
	C string ` + "`json:\"c\"`" + `
	// +kubebuilder:validation:XValidation:rule=self.all(x,message=m
	D string ` + "`json:\"d\"`" + `
	// +kubebuilder:validation:XValidation:rule="self == “”"
	E string ` + "`json:\"e\"`" + `
	// +kubebuilder:validation:XValidation:rule=self > 1 ,message=m
	F strings.Builder ` + "`json:\"f\"`" + `
	// +kubebuilder:validation:AtMostOneOf=a;b
	G Mode ` + "`json:\"g\"`" + `
	// +kubebuilder:validation:XValidation:rule="self != 'h'"
	H Hidden ` + "`json:\"-\"`" + `
	// +kubebuilder:validation:Schemaless
	I Schemaless ` + "`json:\"i\"`" + `
	// +kubebuilder:validation:XValidation:rule=self > 1
	// Old string ` + "`json:\"old\"`" + `
}

// +k8s:immutable
type Mode string

// +kubebuilder:validation:XValidation:rule="self == 'hidden'"
type Hidden string

// +kubebuilder:validation:XValidation:rule="self == 'schemaless'"
type Schemaless string

// +kubebuilder:validation:XValidation:rule="self == 'other'"
type Other string

// OtherKind has no CRD.
// +kubebuilder:validation:XValidation:rule="self == 'kind'"
type OtherKind struct {
	TypeMeta ` + "`json:\",inline\"`" + `
}

// +kubebuilder:validation:XValidation:rule="self == 'stray'"

func f() {}
`

func TestLints(t *testing.T) {
	t.Parallel()
	src := Parse([]File{{Name: "t.go", Package: "example.com/v1", Text: []byte(lintSource)}}, Config{})
	src.Map(readCRD(t, `
spec:
  group: example.com
  names: {kind: Thing}
  versions:
  - name: v1
    schema: {openAPIV3Schema: {x-kubernetes-validations: [{rule: self.spec.mapped == 1}]}}
`))
	var got []string
	for _, l := range src.Lints() {
		line := strings.Split(lintSource, "\n")[l.Line-1]
		at := string([]rune(line)[l.Column-1:])
		got = append(got, fmt.Sprintf("%s %s.%s: %.12s", l.Name, l.Marker.Type, l.Marker.Field, at))
	}
	want := []string{
		"marker-without-rule Thing.: +kubebuilder",
		"marker-without-rule Spec.: +kubebuilder",
		"typographic-quotes Spec.: ''\",message=",
		"marker-without-rule Spec.: +kubebuilder",
		"marker-without-rule Spec.A: +kubebuilder",
		"cut-short Spec.B: > 1)",
		`cut-short Spec.C: b"",message=`,
		"marker-without-rule Spec.D: +kubebuilder",
		"cut-short Spec.D: ,message=m",
		"marker-without-rule Spec.E: +kubebuilder",
		`typographic-quotes Spec.E: “”"`,
		"marker-without-rule Spec.F: +kubebuilder",
		"cut-short Spec.F: 1 ,message=m",
		"unused-marker Spec.G: +kubebuilder",
		"unused-marker Spec.H: +kubebuilder",
		"unused-marker Mode.: +k8s:immutab",
		"unused-marker Hidden.: +kubebuilder",
		"unused-marker Schemaless.: +kubebuilder",
		"unused-marker Other.: +kubebuilder",
		"unused-marker .: +kubebuilder",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for comment, want := range map[string]string{
		"// kubebuilder:validation:Enum=A;B":                         "the + is missing: write // +kubebuilder:validation:Enum",
		"// kubebuilder:validation:XValidation:rule=\"true\"":        "the + is missing: write // +kubebuilder:validation:XValidation:rule",
		"// + kubebuilder:validation:XValidation:rule=\"true\"":      "a space follows the +: write // +kubebuilder:validation:XValidation:rule",
		"/* +kubebuilder:validation:XValidation:rule=\"true\" */":    "generators read only comments that begin with //",
		"// +kubebuilder:validaton:XValidation:rule=\"true\"":        "unknown marker kubebuilder:validaton:XValidation:rule: did you mean validation for validaton?",
		"// +kubebuidler:validation:Enum=A":                          "unknown marker kubebuidler:validation:Enum: did you mean kubebuilder for kubebuidler?",
		"// +kubebuilder:validation:items:XValidatoin:rule=\"true\"": "unknown marker kubebuilder:validation:items:XValidatoin:rule: did you mean XValidation for XValidatoin?",
		"//+kubebuilder:validation:MaxLength=3":                      "",
		"// +kubebuilder:validation:XValidation:rule=\"a:b\"":        "",
		"// +kubebuilder:printcolumn:name=Age,type=date":             "",
		"// +k8s:immutable": "",
		"// kubebuilder:validation:XValidation makes a rule.": "",
		"// See kubebuilder:validation:Enum=A":                "",
		"// //+kubebuilder:object:root=true":                  "",
		"// +listType=map":                                    "",
	} {
		if _, why := mistake(comment); why != want {
			t.Errorf("%s: got %q, want %q", comment, why, want)
		}
	}
	source := "package v1\n\n// +kubebuilder:validation:XValidation:\n// rule=`true`\ntype Thing struct{}\n"
	list := Parse([]File{{Name: "t.go", Package: "example.com/v1", Text: []byte(source)}}, Config{}).Lints()
	if len(list) != 1 || list[0].Name != IgnoredMarker || list[0].Line != 3 || !strings.Contains(list[0].Message, "on one line") {
		t.Errorf("several lines: got %+v", list)
	}
}

func TestNamesOfPackages(t *testing.T) {
	t.Parallel()
	f := &file{imports: map[string]string{"v2": "example.com/thing/v2", "go-other": "example.com/go-other", "own": "example.com/elsewhere"}}
	for name, want := range map[string]string{"v2": "example.com/thing/v2", "thing": "example.com/thing/v2", "other": "example.com/go-other", "own": "example.com/elsewhere", "none": ""} {
		if got := f.importPath(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestLintsHavePages(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/lints.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range LintNames() {
		if !strings.Contains(string(page), "\n## "+name+"\n") {
			t.Errorf("docs/lints.md has no section %q", name)
		}
	}
}
