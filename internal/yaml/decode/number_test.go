package decode

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
)

// asKubectl decodes and encodes an object as kubectl does before sending it, and decodes the result
// as the server does.
func asKubectl(t *testing.T, text []byte) (arrived any) {
	t.Helper()
	obj, _, err := unstructured.UnstructuredJSONScheme.Decode(text, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var sent bytes.Buffer
	if err := unstructured.UnstructuredJSONScheme.Encode(obj, &sent); err != nil {
		t.Fatal(err)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(sent.Bytes(), &arrived); err != nil {
		t.Fatal(err)
	}
	return arrived
}

func TestSent(t *testing.T) {
	t.Parallel()
	for _, number := range []string{
		"1e10", "10000000000.0", "1E10", "1e+10", "100e-1", "1.5e1", "15e-1", "0.5", "-0.0", "-0", "0.0", "0e0", "1e18", "9.2e18",
		"1e19", "1e20", "1e21", "1e22", "-1e20", "-1e21", "9223372036854775807", "9223372036854775807.0", "9223372036854775808",
		"12345678901234567890", "1e-7", "1e-400", "1.0000000000000000001", "123456789.0e-3",
	} {
		text := []byte(`{"kind": "K", "apiVersion": "g/v1", "a": ` + number + `, "b": [` + number + `,{"c":` + number + `}], "1e3": "2e3 \" 3.0", "d": "\\"}`)
		var got any
		if err := kjson.UnmarshalCaseSensitivePreserveInts(Sent(text), &got); err != nil {
			t.Fatalf("%s: %v", number, err)
		}
		if diff := cmp.Diff(asKubectl(t, text), got); diff != "" {
			t.Errorf("%s (-kubectl +ours):\n%s", number, diff)
		}
	}
}

func TestSentKeeps(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, `{`, `"`, `"\`, `-`, `1.`, `1.e5`, `1e`, `1e400`, `{"a": 1e400}`, `{"a": "1e3"}`, `{"a": 1}`, `[1.0.0, 01.0]`} {
		if got := Sent([]byte(text)); string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
