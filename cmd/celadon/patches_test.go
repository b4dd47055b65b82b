package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/celadontest"
)

func TestPatchesOfCRDs(t *testing.T) {
	t.Parallel()
	crd, err := os.ReadFile(crontabCRD)
	if err != nil {
		t.Fatal(err)
	}
	const head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: crontabs.stable.example.com}\n"
	for name, test := range map[string]struct {
		text   string
		usable bool // the folder with it
	}{
		"metadata":      {head, true},
		"conversion":    {head + "spec: {conversion: {strategy: None}}\n", true},
		"short names":   {head + "spec: {names: {shortNames: [ct]}}\n", true},
		"empty fields":  {head + "spec: {group: '', names: {}, versions: []}\n", true},
		"no version":    {"kind: CustomResourceDefinition\nmetadata: {annotations: {a: b}}\n", true},
		"in a List":     {"apiVersion: v1\nkind: List\nitems:\n- kind: CustomResourceDefinition\n", true},
		"after another": {"a: 1\n--- # a patch\n" + head, true},
		"JSON patch":    {"- {op: add, path: /spec/group, value: a}\n", true},
		"versions":      {head + "spec: {versions: [{name: v2}]}\n", false},
		"half a CRD":    {head + "spec: {group: stable.example.com}\n", false},
		"no spec":       {head + "spec: [1]\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			plant(t, dir, map[string]string{"crds/crd.yaml": string(crd), "crds/patch.yaml": test.text, "m/a.yaml": goodCronTab})
			var out, stderr bytes.Buffer
			a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &stderr}
			code := a.run(t.Context(), []string{"check", "--no-config", "--crd", filepath.Join(dir, "crds"), filepath.Join(dir, "m")})
			if (code == 0) != test.usable {
				t.Errorf("check ends with %d: %s%s", code, &out, &stderr)
			}
			var failed string
			func() {
				defer func() { _ = recover() }()
				celadontest.New(&fatal{TB: t, text: &failed}, filepath.Join(dir, "crds"))
			}()
			if (failed == "") != test.usable {
				t.Errorf("celadontest.New fails with %q", failed)
			}
		})
	}
}

type fatal struct {
	testing.TB
	text *string
}

func (f *fatal) Fatalf(format string, args ...any) {
	*f.text = fmt.Sprintf(format, args...)
	panic(f)
}
