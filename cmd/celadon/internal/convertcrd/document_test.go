package convertcrd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
)

// converted are the documents that come of a text.
func converted(t *testing.T, text string) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	err := Run(t.Context(), cli.Streams{Stdin: strings.NewReader(text), Stdout: &out, Stderr: io.Discard}, []string{"-"})
	if exit := (&cli.ExitError{}); err != nil && !errors.As(err, &exit) { // v1 refuses some
		t.Fatalf("%v\n%s", err, text)
	}
	var all []map[string]any
	for one := range strings.SplitSeq(out.String(), "---\n") {
		var doc map[string]any
		if err := yaml.Unmarshal([]byte(one), &doc); err != nil {
			t.Fatalf("%v\n%s", err, one)
		}
		all = append(all, doc)
	}
	return all
}

// TestConvertKeepsTexts: what a terminal must not get is escaped so that it is read
// as it was, in CRDs and in what stands around them.
func TestConvertKeepsTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ written, text string }{
		{"a\u200bb", "a\u200bb"}, {"\u202eabc", "\u202eabc"}, {"'a\tb'", "a\tb"}, {"|\n      x\n      ::error::y\n      z\n", "x\n::error::y\nz\n"},
		{"'##[error]'", "##[error]"}, {"\U000e0001", "\U000e0001"}, {"it's # \u202e", "it's"},
	} {
		const crd = "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1beta1\nmetadata: {name: tabs.x.io}\nspec:\n  group: x.io\n  version: v1\n  names: {plural: tabs, kind: Tab}\n" +
			"  preserveUnknownFields: false\n  validation:\n   openAPIV3Schema:\n    type: object\n    description: %[1]s\n---\nkind: ConfigMap\nk:\n   %[1]s\n"
		docs := converted(t, fmt.Sprintf(crd, c.written))
		if len(docs) != 2 || docs[1]["k"] != c.text {
			t.Errorf("%q: around it %v", c.text, docs)
			continue
		}
		versions, _ := docs[0]["spec"].(map[string]any)["versions"].([]any)
		schema := fmt.Sprint(versions[0].(map[string]any)["schema"])
		if want := fmt.Sprintf("map[openAPIV3Schema:map[description:%s type:object]]", c.text); schema != want {
			t.Errorf("%q: %q", c.text, schema)
		}
	}
	docs := converted(t, "{\"k\":\t\"\u202e\"}\n---\nkind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1beta1\nspec: {group: x.io, version: v1}\nmetadata: {annotations: {a: \"\\e\"}}\r\n")
	if docs[0]["k"] != "\u202e" || fmt.Sprint(docs[1]["metadata"]) != "map[annotations:map[a:\x1b]]" {
		t.Errorf("got %q", docs)
	}
}
