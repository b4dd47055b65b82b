package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/internal/testing/hostile"
)

// hostileCRD returns a CRD with hostile text in its strings. Each kind has different faults. It is JSON, so
// that it parses with any text.
func hostileCRD(kind, text string) string {
	rule := func(rule, message string) map[string]any {
		r := map[string]any{"rule": rule}
		if message != "" {
			r["messageExpression"] = message
		}
		return r
	}
	literal, _ := json.Marshal(text)
	props := func(extra ...any) map[string]any {
		return map[string]any{
			"type": "object",
			"properties": map[string]any{"spec": map[string]any{
				"type": "object",
				"properties": map[string]any{
					"map":      map[string]any{"type": "object", "maxProperties": 9, "additionalProperties": map[string]any{"type": "string", "maxLength": 3}, "x-kubernetes-validations": []any{rule("!('gone' in self) || self[self['gone']] == ''", "")}},
					"enum":     map[string]any{"type": "string", "enum": []any{"x", text}, "description": text},
					"text":     map[string]any{"type": "string", "maxLength": 9999, "x-kubernetes-validations": append([]any{rule("self == 'x' || self == "+string(literal), "'said: ' + self"), rule("self.size() < 3", "")}, extra...)},
					"password": map[string]any{"type": "string", "format": "password"},
					"pattern":  map[string]any{"type": "string", "pattern": "^x?$"},
					"size":     map[string]any{"type": "string", "x-kubernetes-validations": []any{rule("quantity(self).isGreaterThan(quantity('0')) || self == "+string(literal), "")}},
					"list":     map[string]any{"type": "array", "x-kubernetes-list-type": "set", "items": map[string]any{"type": "string"}},
				},
			}},
		}
	}
	version := func(name string, storage bool, schema map[string]any) map[string]any {
		return map[string]any{"name": name, "served": true, "storage": storage, "schema": map[string]any{"openAPIV3Schema": schema}, "deprecated": true, "deprecationWarning": text}
	}
	crd := map[string]any{
		"apiVersion": resource.APIVersion, "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "things.example.org"},
		"spec": map[string]any{"group": "example.org", "scope": "Namespaced", "names": map[string]any{"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"}, "versions": []any{version("v1", true, props())}},
	}
	spec := crd["spec"].(map[string]any)
	switch kind {
	case "broken": // rules that do not compile, invalid defaults, invalid names
		broken := props(rule("self == "+string(literal)+" +", text), rule(text, ""), map[string]any{"rule": "true", "message": text, "reason": text, "fieldPath": text}, rule("self.nope\n== 'a'", "nope + "+string(literal)))
		inner := broken["properties"].(map[string]any)["spec"].(map[string]any)["properties"].(map[string]any)
		inner[text] = map[string]any{"type": text, "default": text, "pattern": "(" + text, "format": text, "x-kubernetes-validations": []any{rule("self", "")}}
		inner["enum"].(map[string]any)["default"] = text + "!"
		spec["versions"] = []any{version("v1", true, broken), version(text, false, props())}
		spec["conversion"] = map[string]any{"strategy": text}
		spec["names"].(map[string]any)["shortNames"] = []any{text}
	case "costly": // rules over their limits, below hostile names
		costly := props()
		inner := costly["properties"].(map[string]any)["spec"].(map[string]any)["properties"].(map[string]any)
		for _, name := range []string{text, "costly"} {
			inner[name] = map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}, "x-kubernetes-validations": []any{rule("self.all(k, self.all(l, self[k].contains("+string(literal)+")))\n|| true", "")}}
		}
		spec["versions"] = []any{version("v1", true, costly)}
	case "typo":
		crd[text] = text
		spec[text] = text
	case "named":
		crd["metadata"] = map[string]any{"name": text, "labels": map[string]any{text: text}, "annotations": map[string]any{text: text}}
		spec["group"], spec["scope"] = text, text
		spec["names"] = map[string]any{"kind": text, "plural": text, "singular": text, "listKind": text, "categories": []any{text}}
	case "undecoded":
		crd["apiVersion"] = text
	}
	data, err := json.Marshal(crd)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func hostileObjects(text string) map[string]string {
	object := func(change func(obj, meta, spec map[string]any)) string {
		meta, spec := map[string]any{"name": "x"}, map[string]any{}
		obj := map[string]any{"apiVersion": "example.org/v1", "kind": "Thing", "metadata": meta, "spec": spec}
		change(obj, meta, spec)
		data, err := json.Marshal(obj)
		if err != nil {
			panic(err)
		}
		return string(data)
	}
	files := map[string]string{
		"valid.json":    object(func(_, _, _ map[string]any) {}),
		"key.json":      object(func(_, _, spec map[string]any) { spec["map"] = map[string]any{text: "too long"} }),
		"nokey.json":    object(func(_, _, spec map[string]any) { spec["map"] = map[string]any{"gone": "\n::"} }),
		"value.json":    object(func(_, _, spec map[string]any) { spec["text"] = "x" + text }),
		"enum.json":     object(func(_, _, spec map[string]any) { spec["enum"] = text + "?" }),
		"pattern.json":  object(func(_, _, spec map[string]any) { spec["pattern"] = text }),
		"password.json": object(func(_, _, spec map[string]any) { spec["password"], spec["pattern"] = text, text }),
		"list.json":     object(func(_, _, spec map[string]any) { spec["list"] = []any{text, text} }),
		"type.json":     object(func(_, _, spec map[string]any) { spec["map"] = text }),
		"huge.json":     object(func(_, _, spec map[string]any) { spec["size"] = "1e2000000000" }),
		"unknown.json":  object(func(_, _, spec map[string]any) { spec[text] = text }),
		"name.json":     object(func(_, meta, _ map[string]any) { meta["name"] = text }),
		"space.json":    object(func(_, meta, _ map[string]any) { meta["namespace"] = text }),
		"meta.json": object(func(_, meta, _ map[string]any) {
			meta["labels"], meta["annotations"] = map[string]any{text: text}, map[string]any{text: text}
			meta["finalizers"] = []any{text, "plain"}
			meta["ownerReferences"] = []any{map[string]any{"apiVersion": text, "kind": text, "name": text, "uid": text}}
		}),
		"final.json":    object(func(_, meta, _ map[string]any) { meta["finalizers"] = []any{"plain"} }),
		"kind.json":     object(func(obj, _, _ map[string]any) { obj["kind"] = text }),
		"group.json":    object(func(obj, _, _ map[string]any) { obj["apiVersion"] = text }),
		"version.json":  object(func(obj, _, _ map[string]any) { obj["apiVersion"] = "example.org/" + text }),
		"broken.json":   `{"apiVersion": "` + text,
		"broken.yaml":   "apiVersion: " + text + "\n: {" + text,
		"twice.json":    strings.Replace(object(func(_, _, spec map[string]any) { spec["text"] = text }), `"spec":{`, `"spec":{"text":"",`, 1),
		"excerpt.yaml":  "apiVersion: example.org/v1\nkind: Thing\nmetadata: {name: e}\nspec: {enum: bad, pattern: \"y\u202e\u200b\"} # \u202e\u200b ::error::x ##[error]PWNED\n",
		"lines.yaml":    "apiVersion: example.org/v1\nkind: Thing\nmetadata: {name: z}\nspec:\n  text: \"x\\n::error file=x::PWNED\\nPWNED\"\n  \"a\\n::error file=x::PWNED\": 1\n  \"a\\n::error file=x::PWNED\": 2\n",
		"notobject.yml": "- " + `"` + "\\e[31m" + `"`,
	}
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == 0 {
			return '_'
		}
		return r
	}, text)
	files[name[:40]+"\n::error file=x::PWNED\x1b[31m##[error]\u202e.json"] = files["value.json"]
	files["a\x9b31m\xff\nPWNED.yaml"] = files["key.json"]
	files["b\nPWNED.yaml"] = "\tbroken"
	return files
}

func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func runs(t *testing.T, args ...string) (code int, stdout []byte) {
	t.Helper()
	var out, stderr bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &stderr}
	code = a.run(context.Background(), args)
	what := fmt.Sprintf("%.300q", args)
	hostile.Harmless(t, what+": stdout", out.Bytes())
	hostile.Harmless(t, what+": stderr", stderr.Bytes())
	if code == command.Bug || bytes.Contains(stderr.Bytes(), []byte("internal error")) {
		t.Errorf("%s: exit code %d: %s", what, code, stderr.String())
	}
	return code, out.Bytes()
}

func parses(t *testing.T, format string, out []byte) {
	t.Helper()
	var err error
	switch format {
	case "json", "sarif":
		err = json.Unmarshal(out, new(any))
	case "jsonl":
		for line := range bytes.Lines(out) {
			if err == nil {
				err = json.Unmarshal(line, new(any))
			}
		}
	case "junit":
		dec := xml.NewDecoder(bytes.NewReader(out))
		for err == nil {
			_, err = dec.Token()
		}
		if err == io.EOF {
			err = nil
		}
	}
	if err != nil {
		t.Errorf("-o %s: %v", format, err)
	}
}

func TestAttackCheckOutput(t *testing.T) {
	t.Parallel()
	for _, text := range []string{hostile.Text, hostile.Broken} {
		objects := writeFiles(t, hostileObjects(text))
		crds := writeFiles(t, map[string]string{"crd.json": hostileCRD("", text)})
		other := writeFiles(t, map[string]string{"crd.json": strings.Replace(hostileCRD("", text), `"maxLength":3`, `"maxLength":2`, 1), "n\nPWNED\x1b[31m.yaml": hostileCRD("named", text)})
		broken := writeFiles(t, map[string]string{"b\nPWNED\u202e.json": hostileCRD("broken", text)})
		for _, format := range []string{"text", "json", "jsonl", "junit", "sarif", "github", "gitlab", "markdown"} {
			for _, args := range [][]string{
				{"--crd", crds, "--verbose", "--strict-kinds"},
				{"--crd", crds, "--summary", "--validate", "warn"},
				{"--crd", crds, "--quiet", "--validate", "ignore"},
				{"--crd", crds, "--old", objects},
				{"--crd", other, "--crd-old", crds, "--summary"},
				{"--crd", broken},
			} {
				code, out := runs(t, slices.Concat([]string{"check", "-o", format, objects}, args)...)
				if code != command.Usage {
					t.Errorf("-o %s %q: exit code %d, want %d: there are files that cannot be read", format, args, code, command.Usage)
				}
				if !bytes.Contains(out, []byte("PWNED")) {
					t.Errorf("-o %s %q: the texts are not shown", format, args)
				}
				parses(t, format, out)
			}
		}
	}
}

func hostilePolicy(text string) string {
	quoted := func(text string) string {
		data, err := json.Marshal(text)
		if err != nil {
			panic(err)
		}
		return string(data)
	}
	return `{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": ` + quoted(text) + `}, "spec": {
"matchConstraints": {"resourceRules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods", ` + quoted(text) + `]}],
	"objectSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}, {"key": "a", "operator": "DoesNotExist"}]}},
"variables": [{"name": "a", "expression": ` + quoted("object.nope == r+text+") + `}],
"validations": [{"expression": ` + quoted("object.metadata.labels[+text+] + ") + `}, {"expression": "object.spec.a", "message": "'` + "a" + `' + object.b"}]}}`
}

func TestAttackVetOutput(t *testing.T) {
	t.Parallel()
	for _, text := range []string{hostile.Text, hostile.Broken} {
		files := map[string]string{"c\nPWNED\x1b[31m\u202e.yaml": "apiVersion: " + resource.APIVersion + "\nkind: CustomResourceDefinition\nspec: {\"\\n::error::PWNED\": 1, \"\\n::error::PWNED\": 2}\n"}
		for _, kind := range []string{"", "broken", "costly", "typo", "named", "undecoded"} {
			files["d"+kind+"\n::error file=x::PWNED.json"] = hostileCRD(kind, text)
		}
		located, err := os.ReadFile("testdata/vet_terminal/crd.yaml")
		if err != nil {
			t.Fatal(err)
		}
		files["e\nPWNED.yaml"] = string(located)
		files["p\n::error::PWNED.json"] = hostilePolicy(text)
		crds := writeFiles(t, files)
		old := writeFiles(t, map[string]string{"crd.json": hostileCRD("", text)})
		for _, format := range []string{"text", "json", "sarif", "github"} {
			for _, args := range [][]string{{"--all", "--explain"}, {"--kube-version", "1.30"}, {"--old", old}} {
				code, out := runs(t, slices.Concat([]string{"vet", "-o", format, crds}, args)...)
				if code != command.Usage || !bytes.Contains(out, []byte("PWNED")) {
					t.Errorf("-o %s %q: exit code %d, want %d and the texts shown", format, args, code, command.Usage)
				}
				parses(t, format, out)
			}
		}
	}
}

func TestAttackArguments(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.ReplaceAll(hostile.Text, "\x00", ""), "\n::error::PWNED", "-\x1b[31m\nPWNED", "--\x1b[31m\n::error::PWNED", "##[error]x"} {
		for _, args := range [][]string{
			{text}, {"check", text}, {"check", "--crd", text, text}, {"check", "--crd", crontabCRD, text},
			{"check", "--crd", crontabCRD, "--base", text, "../../examples"}, {"check", "--crd", crontabCRD, "-o", text, "x"},
			{"check", "--crd", crontabCRD, "--kube-version", text, "x"}, {"check", "--crd", crontabCRD, "--config", text, "x"},
			{"check", "--crd", crontabCRD, "--validate", text, "x"}, {"check", "--crd", crontabCRD, "--subresource", text, "x"},
			{"check", "--crd", crontabCRD, "--old", text, "../../examples/crontab/updates"}, {"check", "--crd", crontabCRD, "--max-findings", text, "x"},
			{"vet", text}, {"vet", "--old", text, crontabCRD}, {"vet", "--no-lint", text, crontabCRD}, {"vet", "-o", text, crontabCRD}, {"version", text},
		} {
			if code, _ := runs(t, args...); code == command.OK {
				t.Errorf("%q: exit code 0", args)
			}
		}
	}
}
