package schema

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

func TestFormatsUpstream(t *testing.T) {
	t.Parallel()
	formats := []string{"", "int32", "int64", "float", "double", "date-time", "date-", "Date", "x"}
	for _, f := range []string{"k8s-short-name", "k8s-long-name"} {
		if strfmt.Default.ContainsName(f) {
			formats = append(formats, f)
		}
	}
	for name := range formatNames {
		if !strfmt.Default.ContainsName(name) {
			t.Errorf("the library does not know format %q", name)
		}
		formats = append(formats, name)
	}
	for minor := 36; minor <= 37; minor++ {
		strip := validation.StripUnsupportedFormatsPostProcessorForVersion(version.MajorMinor(1, uint(minor-1)))
		for _, format := range formats {
			for _, types := range [][]string{nil, {"string"}, {"integer"}, {"number"}, {"boolean"}, {"integer", "string"}} {
				s := &spec.Schema{SchemaProps: spec.SchemaProps{Format: format, Type: types}}
				if err := strip(s); err != nil {
					t.Fatal(err)
				}
				if got, want := server(minor).checksFormat(format, types), s.Format != ""; got != want {
					t.Errorf("1.%d: format %q of %v: got %v, want %v", minor, format, types, got, want)
				}
			}
		}
	}
}
