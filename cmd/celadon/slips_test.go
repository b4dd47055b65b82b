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
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
)

type slip struct {
	kind         string // "crd" or "object"
	text         string // of the table
	document     string
	line, column int    // of the mistake
	hint         string // a part of the hint, or ""
	file         string
}

func TestSlips(t *testing.T) {
	list := readSlips(t)
	reported := slipReports(t, list)
	placed, exact, hinted := 0, 0, 0
	for _, s := range list {
		r := reported[s.file]
		if want := slipVerdict(t, s); want != r.message && !r.unknown && yaml.UnmarshalStrict([]byte(s.document), &map[string]any{}) == nil {
			t.Errorf("%s:\ngot  %s\nwant %s", s.text, r.message, want)
		}
		if r.message == "" && !r.unreadable {
			t.Errorf("%s: not a mistake", s.text)
		}
		isPlaced, isExact, isHinted := false, false, false
		for _, at := range r.at {
			if at.Line != s.line {
				continue
			}
			isPlaced = true
			isExact = isExact || at.Column == s.column
			isHinted = isHinted || at.Hint != "" && strings.Contains(at.Hint, s.hint)
		}
		for n, counted := range map[*int]bool{&placed: isPlaced, &exact: isExact, &hinted: isHinted} {
			if counted {
				*n++
			}
		}
		if !isPlaced || !isHinted {
			t.Logf("%s: want %d:%d %q, got %s", s.text, s.line, s.column, s.hint, r)
		} else if !isExact {
			t.Logf("column of %s: want %d:%d, got %s", s.text, s.line, s.column, r)
		}
	}
	t.Logf("%d mistakes: %d in their line, %d in their column, %d with a hint", len(list), placed, exact, hinted)
	if placed < len(list) || hinted*100 < len(list)*90 {
		t.Errorf("%d of %d mistakes are reported in their line, %d have a hint", placed, len(list), hinted)
	}
}

type slipReport struct {
	message    string // of the server
	unreadable bool
	unknown    bool // kind or version
	at         []finding.Location
}

func (r slipReport) String() string {
	var b strings.Builder
	b.WriteString(r.message)
	for _, at := range r.at {
		fmt.Fprintf(&b, "\n    %d:%d %s %q", at.Line, at.Column, at.Message, at.Hint)
	}
	return b.String()
}

func readSlips(t *testing.T) (list []slip) {
	table, err := os.ReadFile("testdata/slips.txt")
	if err != nil {
		t.Fatal(err)
	}
	base, kind, dir := "", "", t.TempDir()
	escapes := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\x01`, "\x01", `\x02`, "\x02", `\xff`, "\xff", `\xe9`, "\xe9", `\\`, `\`)
	for row := range strings.Lines(string(table)) {
		row = strings.TrimSuffix(row, "\n")
		if section, ok := strings.CutPrefix(row, "["); ok {
			kind, _, _ = strings.Cut(section, ":")
			data, err := os.ReadFile("testdata/slips_" + kind + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			base = string(data)
			continue
		}
		parts := strings.Split(row+" ", " => ")
		if len(parts) < 2 || row[0] == '#' {
			continue
		}
		s := slip{kind: kind, text: row, file: filepath.Join(dir, fmt.Sprintf("%s%03d.yaml", kind, len(list)))}
		if len(parts) == 3 {
			s.hint = strings.TrimSpace(parts[2])
		}
		old, planted := escapes.Replace(parts[0]), escapes.Replace(strings.TrimSuffix(parts[1], " "))
		if strings.Count(base, old) == 0 {
			t.Fatalf("%s: not in the document", row)
		}
		s.document = strings.Replace(base, old, planted, 1)
		before, after, marked := strings.Cut(s.document, "‸")
		if !marked {
			before, _, _ = strings.Cut(base, old)
		} else {
			s.document = before + after
		}
		s.line = 1 + strings.Count(before, "\n")
		s.column = 1 + utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:])
		if err := os.WriteFile(s.file, []byte(s.document), 0o644); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

func slipReports(t *testing.T, list []slip) map[string]slipReport {
	type one struct {
		File     string
		Line     int
		Problem  string
		Status   *finding.Status
		Causes   []finding.Cause
		Strict   []finding.Location
		Accepted bool
		Verdict  string
	}
	found := map[string]slipReport{}
	for kind, command := range map[string][]string{"crd": {"vet", "-o", "json"}, "object": {"check", "-o", "json", "--crd", "testdata/slips_crd.yaml"}} {
		for _, s := range list {
			if s.kind == kind {
				command = append(command, s.file)
			}
		}
		var out bytes.Buffer
		(&app{stdin: strings.NewReader(""), stdout: &out, stderr: io.Discard}).run(t.Context(), command)
		var report struct{ CRDs, Objects []one }
		if err := json.Unmarshal(out.Bytes(), &report); err != nil {
			t.Fatalf("%v: %s", err, out.Bytes())
		}
		for _, o := range append(report.CRDs, report.Objects...) {
			r := slipReport{unreadable: o.Problem != ""}
			if o.Problem != "" && len(o.Strict) == 0 {
				_, hint, _ := strings.Cut(o.Problem, "; ")
				r.at = append(r.at, finding.Location{Line: o.Line, Message: o.Problem, Hint: hint})
			}
			if o.Status != nil {
				r.message, r.unknown = o.Status.Message, o.Status.Code == 404
			}
			r.at = append(r.at, o.Strict...)
			for _, c := range o.Causes {
				r.at = append(r.at, finding.Location{Line: c.Line, Column: c.Column, Message: c.Field, Hint: cmp.Or(c.Hint, c.Summary)})
			}
			if _, again := found[o.File]; !again {
				found[o.File] = r
			}
		}
	}
	return found
}

func slipVerdict(t *testing.T, s slip) string {
	data, err := yaml.YAMLToJSON([]byte(s.document))
	var m map[string]any
	if err != nil || yaml.Unmarshal([]byte(s.document), &m) != nil {
		return ""
	}
	if s.kind == "crd" {
		r, err := vet.Vet(t.Context(), data, vet.Config{VerdictOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status == nil {
			return ""
		}
		return r.Status.Message
	}
	e := slipEngine(t)
	r, err := e.Validate(t.Context(), engine.Request{Raw: data, Namespace: "default", FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		t.Fatal(s.text, err)
	}
	if r.Failure == nil {
		return ""
	}
	return r.Failure.Message
}

func slipEngine(t *testing.T) *engine.Engine {
	data, err := os.ReadFile("testdata/slips_crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(data, &crd); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Compile(&crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}
