package decode

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	kyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/celadon-cel/celadon/engine"
)

// TestKubectlDecoder documents how kubectl's decoder in cli-runtime handles duplicate and merged
// keys. It keeps the last value without a warning, and a merge after a key overrides the key.
func TestKubectlDecoder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, want string
		duplicate  bool // strictly
	}{
		"a duplicate":           {"a: 1\na: 2\n", `{"a":2}`, true},
		"a merged key":          {"x: {<<: &m {a: 1, b: 2}}\n", `{"x":{"a":1,"b":2}}`, false},
		"overridden":            {"x: {<<: &m {a: 1, b: 2}, a: 3}\n", `{"x":{"a":3,"b":2}}`, true},
		"a merge after the key": {"x: {a: 3, <<: &m {a: 1, b: 2}}\n", `{"x":{"a":1,"b":2}}`, true},
		"of several the first":  {"x: {<<: [{a: 1}, {a: 2, b: 3}]}\n", `{"x":{"a":1,"b":3}}`, true},
		"two merges":            {"x:\n  <<: {a: 1}\n  <<: {a: 2}\n", `{"x":{"a":2}}`, true},
		"a quoted one is a key": {"x: {'<<': {a: 1}}\n", `{"x":{"\u003c\u003c":{"a":1}}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var raw runtime.RawExtension
			if err := kyaml.NewYAMLOrJSONDecoder(strings.NewReader(c.text), 4096).Decode(&raw); err != nil {
				t.Fatal(err)
			}
			if string(raw.Raw) != c.want {
				t.Errorf("kubectl reads %s, want %s", raw.Raw, c.want)
			}
			want, err := engine.Decode(raw.Raw)
			if err != nil {
				t.Fatal(err)
			}
			got, duplicate, err := Decode([]byte(c.text))
			if err != nil || !reflect.DeepEqual(got, any(want)) {
				t.Errorf("read as %v, %v, want %v", got, err, want)
			}
			if (duplicate != nil) != c.duplicate {
				t.Errorf("the strict decoder reports %v", duplicate)
			}
		})
	}
}
