package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

const openCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {text: {type: string}}}}
`

func runCheck(t *testing.T, name, objects, output string) string {
	t.Helper()
	dir := t.TempDir()
	crd, file := filepath.Join(dir, "crd.yaml"), filepath.Join(dir, name)
	for path, text := range map[string]string{crd: openCRD, file: objects} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, stderr bytes.Buffer
	o := &Options{CRDs: []string{crd}, Validate: "strict", Output: output}
	if err := o.Check([]string{file}); err != nil {
		t.Fatal(err)
	}
	_ = Run(t.Context(), command.Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr}, o, []string{file})
	return out.String() + stderr.String()
}

// TestTooLargeOnServer in conformance checks the same on an API server.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	const fits, etcd, body = "", "etcdserver: request is too large", "Request entity too large"
	for name, tt := range map[string]struct {
		text string
		want string
	}{
		"just fits":         {strings.Repeat("x", 3<<19-200), fits},
		"just too large":    {strings.Repeat("x", 3<<19), etcd},
		"grows in storage":  {strings.Repeat("<", 3<<19/6+1), etcd},
		"not even sent":     {strings.Repeat("x", 3<<20), body},
		"below any measure": {strings.Repeat("<", 1000), fits},
	} {
		for form, objects := range map[string]string{
			"o.json": fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"text":%q}`, tt.text),
			"o.yaml": fmt.Sprintf("apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\ntext: %q\n", tt.text),
			"list.yaml": fmt.Sprintf("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: example.com/v1, kind: Thing, metadata: {name: b}}\n"+
				"- {apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, text: %q}\n", tt.text),
		} {
			t.Run(name+" "+form, func(t *testing.T) {
				t.Parallel()
				out := runCheck(t, form, objects, "json")
				var report struct{ Objects []struct{ Warnings []string } }
				if err := json.Unmarshal([]byte(out), &report); err != nil {
					t.Fatalf("%v: %.600s", err, out)
				}
				var got []string
				for _, o := range report.Objects {
					got = append(got, o.Warnings...)
				}
				if tt.want == fits && len(got) > 0 || tt.want != fits && (len(got) != 1 || !strings.Contains(got[0], tt.want)) {
					t.Errorf("warnings %q, want %q", got, tt.want)
				}
			})
		}
	}
}

func TestMistyped(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{"apiVersion": 1, "kind": "Thing", "metadata": {"name": "a"}}`:                    "json: cannot unmarshal number into Go struct field .apiVersion of type string",
		`{"apiVersion": "example.com/v1", "kind": ["Thing"], "metadata": {"name": "a"}}`:   "json: cannot unmarshal array into Go struct field .kind of type string",
		`{"apiVersion": "example.com/v1", "kind": null, "metadata": {"name": "a"}}`:        "Object 'Kind' is missing",
		`{"apiVersion": ["example.com/v1"], "kind": "Other", "metadata": {"name": "a"}}`:   "apiVersion or kind is not a string",
		`{"apiVersion": "other.example.com/v1", "kind": false, "metadata": {"name": "a"}}`: "apiVersion or kind is not a string",
		`{"apiVersion": "example.com/v1", "metadata": {"name": "a"}}`:                      "apiVersion or kind is missing",
	} {
		if out := runCheck(t, "o.json", object, "text"); !strings.Contains(out, want) {
			t.Errorf("%s: got %s, want %s", object, out, want)
		}
	}
}
