package untrusted

import (
	"bytes"
	"reflect"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestYAML(t *testing.T) {
	for _, text := range []string{
		"plain", "two\nlines\n", "a\u200bb", "a\u200bb\nc", "\u202eabc", "\ufeffa", "\x1b[31m", "a\tb", "\u2028", "\U000e0001", "it's \u200b", "\"\u200b\\", "- \u200b", "\u00ad: x", "true", "\x7f", "\u0085",
	} {
		want := map[string]any{"k": text, "a" + text: []any{text, map[string]any{text: 1.5}}}
		data, err := YAML(want)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		w := NewWriter(&b)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := yaml.Unmarshal(b.Bytes(), &got); err != nil {
			t.Errorf("%q: %v\n%s", text, err, &b)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: read as %q\n%s", text, got, &b)
		}
	}
}
