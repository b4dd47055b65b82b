package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/x/assist"
)

func TestMistakesPage(t *testing.T) {
	const page = "../../docs/errors.md"
	frame, err := os.ReadFile("testdata/errors_page.md")
	if err != nil {
		t.Fatal(err)
	}
	want := string(frame) + mistakesPage()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s differs from the index: run the test with -update", page)
	}
}

func mistakesPage() string {
	var b strings.Builder
	b.WriteString("| the API server reports | mistakes |\n|---|---|\n")
	var messages []string
	links := map[string][]string{}
	for _, e := range assist.Index() {
		if links[e.Server] == nil {
			messages = append(messages, e.Server)
		}
		links[e.Server] = append(links[e.Server], fmt.Sprintf("[%s](#%s)", e.Code, e.Code))
	}
	for _, message := range messages {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(message, "`", "'"), strings.Join(links[message], ", "))
	}
	for _, e := range assist.Index() {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\nThe API server reports: `%s`\n", e.Code, e.Cause, strings.ReplaceAll(e.Server, "`", "'"))
		switch {
		case e.Fixed != "":
			fmt.Fprintf(&b, "\n```cel\n// instead of\n%s\n// write\n%s\n```\n", e.Example, e.Fixed)
		case e.Example != "":
			fmt.Fprintf(&b, "\n```cel\n%s\n```\n", e.Example)
		}
	}
	return b.String()
}

func TestMistakeTopics(t *testing.T) {
	help := func(name string) (string, int) {
		var out bytes.Buffer
		code := (&app{stdin: strings.NewReader(""), stdout: &out, stderr: &out}).run(t.Context(), []string{"help", name})
		return out.String(), code
	}
	list, _ := help("errors")
	for _, e := range assist.Index() {
		text, code := help(e.Code)
		if code != 0 || !strings.Contains(text, e.Cause) || !strings.Contains(list, e.Code) {
			t.Errorf("%s: exit code %d, %s", e.Code, code, text)
		}
	}
	if text, code := help("unknown-feild"); code != 2 || !strings.Contains(text, "did you mean unknown-field?") {
		t.Errorf("exit code %d, %s", code, text)
	}
}

// Package lsp has the same test for editors.
func TestMistakesEverywhere(t *testing.T) {
	list, crd := readMistakes(t)
	dir := t.TempDir()
	vetted, shell := 0, 0
	if testing.Short() {
		list = list[:len(list)/8]
	}
	for i, m := range list {
		file := filepath.Join(dir, fmt.Sprintf("%d.yaml", i))
		if err := os.WriteFile(file, withRule(t, crd, m[0], m[1]), 0o644); err != nil {
			t.Fatal(err)
		}
		var report struct {
			CRDs []struct{ Causes []finding.Cause }
		}
		var out bytes.Buffer
		(&app{stdin: strings.NewReader(""), stdout: &out, stderr: io.Discard}).run(t.Context(), []string{"vet", "-o", "json", file})
		if err := json.Unmarshal(out.Bytes(), &report); err != nil {
			t.Fatal(err)
		}
		if len(report.CRDs) == 1 && len(report.CRDs[0].Causes) > 0 {
			cause := report.CRDs[0].Causes[0]
			if cause.Code != "" && cause.Hint != "" && cause.Fixed == m[2] {
				vetted++
			} else {
				t.Logf("vet: %s: got %q %q %q", m[1], cause.Code, cause.Hint, cause.Fixed)
			}
		}
		out.Reset()
		input := ":cd " + cmp.Or(m[0], "/") + "\n:add " + m[1] + "\n\n"
		(&app{stdin: strings.NewReader(input), stdout: &out, stderr: &out}).run(t.Context(), []string{"repl", "--crd", "../../x/assist/testdata/database.yaml"})
		if text := out.String(); strings.Contains(text, "hint: ") || strings.Contains(text, "did you mean") {
			if m[2] == "" || strings.Contains(text, "  try:  "+m[2]+"\n") {
				shell++
				continue
			}
		}
		t.Logf("shell: %s: got %s", m[1], out.String())
	}
	for name, n := range map[string]int{"vet": vetted, "the shell": shell} {
		if t.Logf("%s: %d of %d", name, n, len(list)); n*100 < len(list)*95 {
			t.Errorf("%s shows the hints and fixes of %d of %d mistakes, want 95 %%", name, n, len(list))
		}
	}
}

func readMistakes(t *testing.T) (list [][]string, crd []byte) {
	const dir = "../../x/assist/testdata/"
	data, err := os.ReadFile(dir + "mistakes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(columns) == 3 {
			list = append(list, columns)
		}
	}
	if crd, err = os.ReadFile(dir + "database.yaml"); err != nil {
		t.Fatal(err)
	}
	return list, crd
}

func withRule(t *testing.T, data []byte, path, rule string) []byte {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(data, &crd); err != nil {
		t.Fatal(err)
	}
	rules := apiextensionsv1.ValidationRules{{Rule: rule}}
	schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	spec := schema.Properties["spec"]
	storage := spec.Properties["storage"]
	switch path {
	case "":
		schema.XValidations = rules
	case "spec":
		spec.XValidations = rules
	case "spec.storage":
		storage.XValidations = rules
	default:
		t.Fatalf("no schema at %s", path)
	}
	spec.Properties["storage"] = storage
	schema.Properties["spec"] = spec
	out, err := yaml.Marshal(&crd)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
