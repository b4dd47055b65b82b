package markers

import "testing"

func TestComments(t *testing.T) {
	t.Parallel()
	const marker = "// +kubebuilder:validation:XValidation:rule=\"true\"\n"
	const field = "\tA string `json:\"a\"`"
	for text, want := range map[string]string{
		"type T struct { " + marker + field + "\n}\n":                         "T.A",
		"type T struct { " + marker + "\t// A has a doc.\n" + field + "\n}\n": "T.A",
		"type T struct {\n" + field + " " + marker + "\tB string\n}\n":        ".",
		"type T struct {\n" + field + " // c\n" + marker + "\tB string\n}\n":  "T.B",
		"type ( " + marker + "\tT string\n)\n":                                "T.",
		"type T string " + marker + "type U string\n":                         ".",
		"type T string\n\n" + marker + "\ntype U string\n":                    "U.",
		marker + "\n// T has a doc.\ntype T string\n":                         "T.",
	} {
		src := Parse([]File{{Name: "t.go", Package: "example.com/v1", Text: []byte("package v1\n\n" + text)}}, Config{})
		if len(src.Problems()) > 0 || len(src.Markers()) != 1 {
			t.Fatalf("%s: %v, %d markers", text, src.Problems(), len(src.Markers()))
		}
		m := src.Markers()[0]
		if got := m.Type + "." + m.Field; got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
