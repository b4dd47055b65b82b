package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

func TestAttackShell(t *testing.T) {
	t.Parallel()
	const nasty = "\x1b]0;owned\x07\u009b31m\u202e\x7f"
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	quoted := strings.NewReplacer(`\x1b`, `\u001b`, `\a`, `\u0007`, `\x7f`, `\u007f`).Replace(strconv.QuoteToASCII(nasty))
	crd := write("crd.json", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.org"},
"spec":{"group":"example.org","names":{"kind":"Widget","plural":"widgets","singular":"widget","listKind":"WidgetList"},"scope":"Namespaced",
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","description":`+quoted+`,"properties":{
"spec":{"type":"object","description":`+quoted+`,"properties":{"a":{"type":"string","description":`+quoted+`,"enum":[`+quoted+`,"b"]},`+quoted+`:{"type":"string"},
"m":{"type":"object","additionalProperties":{"type":"string"}}},
"x-kubernetes-validations":[{"rule":"self.a == 'b' || '\u001b' == ''","messageExpression":"self.a + '!'"},{"rule":"self.nope `+"\\u001b[31m"+`"}]}}}}}]}}`)
	obj := write("object.json", `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"a":`+quoted+`,`+quoted+`:`+quoted+`,"m":{`+quoted+`:`+quoted+`}}}`)
	lines := "self\nself.spec.m\n:cd spec\n:rules\n:rules all\n:explain self.a == 'b'\n:schema\n:test\n:type self.m\n:rule 1\n:edit 1\n:cost\nself.\t\n:cd \t\n:object\n'\x1b[1m'\n:nope \x1b\n"
	for name, args := range map[string][]string{
		"repl":      {"repl", "--crd", crd, "--object", obj},
		"eval":      {"eval", "--crd", crd, "--object", obj, "self"},
		"eval json": {"eval", "--crd", crd, "--object", obj, "-o", "json", "self.spec"},
		"eval bad":  {"eval", "--crd", crd, "--object", obj, "self.spec." + nasty},
		"no file":   {"eval", "--crd", crd + nasty, "self"},
	} {
		var out bytes.Buffer
		a := &app{stdin: strings.NewReader(lines), stdout: &out, stderr: &out}
		if code := a.run(t.Context(), args); code == command.Bug {
			t.Errorf("%s: exit code %d", name, code)
		}
		for i, r := range out.String() {
			if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || r == '\u202e' {
				from := max(0, i-60)
				t.Errorf("%s: %q is written, in %q", name, r, out.String()[from:i+1])
				break
			}
		}
		if !strings.Contains(out.String(), `\u202e`) && !strings.Contains(out.String(), `\\u202e`) {
			t.Errorf("%s: nothing hostile was shown:\n%s", name, out.String())
		}
	}
}
