package finding

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/findingtest"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/secret"
)

// nasty contains characters that formats must escape.
const nasty = "a<b>&\"c\" 'd' ]]> 100%, x:y\r\n\x00\x1b é …"

func sample() []*Object {
	id := Identity{APIVersion: "g/v1", Kind: "Thing", Namespace: "default", Name: "a"}
	objects := []*Object{
		{File: "f.yaml", Line: 1, Identity: id, Verdict: Valid, Operation: "create", Warnings: []string{nasty}},
		{File: "f.yaml", Line: 5, Identity: id, Verdict: Invalid, Status: &Status{422, "Invalid", nasty}, Causes: []Cause{
			{Reason: "FieldValueInvalid", Field: "spec", Message: nasty, Rule: "self.a <\n0", File: "f.yaml", Line: 6, Column: 3,
				Ref: &engine.RuleRef{Version: "v1", Path: "spec"}, Values: []Value{{"self.a", nasty}}, Excerpt: Excerpt{nasty, 2}},
			{Reason: "FieldValueRequired", Field: "spec.b", Message: "Required value"},
		}},
		{File: "dir/g h%.json", Line: 1, Identity: id, Verdict: Invalid, Operation: "create", Status: &Status{400, "BadRequest", nasty}},
		{File: "-", Verdict: Unreadable, Problem: nasty},
		{File: "z.yaml", Line: 1, Identity: id, Verdict: Skipped, Problem: "no CRD given for Thing"},
		{File: "z.yaml", Line: 3, Identity: id, Verdict: Undecided, Problem: nasty, Limit: &engine.WorkLimitError{Rule: engine.RuleRef{Rule: nasty}}},
	}
	for _, o := range objects {
		o.Causes = append([]Cause{}, o.Causes...)
		o.Warnings = append([]string{}, o.Warnings...)
	}
	return objects
}

func render(t *testing.T, format string) []byte {
	t.Helper()
	return renderSome(t, format, sample(), &Summary{Checked: 3, Valid: 1, Invalid: 2, Skipped: 1, Unreadable: 1, Undecided: 1})
}

func renderSome(t *testing.T, format string, objects []*Object, s *Summary) []byte {
	t.Helper()
	var b bytes.Buffer
	p, err := New(format, &b, Options{KubeVersion: "1.37", Version: "devel"})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if err := p.Object(o); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.End(s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sarifLog is the part of a log that tests read.
type sarifLog struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []struct {
		sarifRun
		Results []sarifResult `json:"results"`
	} `json:"runs"`
}

// readSARIF validates a log against the schema and decodes it.
func readSARIF(t *testing.T, data []byte) (log sarifLog) {
	t.Helper()
	findingtest.SARIF(t, data)
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&log); err != nil {
		t.Fatal(err)
	}
	return log
}

func TestSARIF(t *testing.T) {
	t.Parallel()
	log := readSARIF(t, render(t, "sarif"))
	run := log.Runs[0]
	var ids []string
	for _, rule := range run.Tool.Driver.Rules {
		ids = append(ids, rule.ID)
	}
	if diff := cmp.Diff([]string{"warning", "g/Thing/v1/spec[0]", "FieldValueRequired", "BadRequest", "unreadable", "undecided"}, ids); diff != "" {
		t.Error(diff)
	}
	for _, result := range run.Results {
		if ids[result.RuleIndex] != result.RuleID {
			t.Errorf("result of %s points to rule %d", result.RuleID, result.RuleIndex)
		}
	}
}

// TestStreams checks that reports are not kept in memory: a finding is written before the next one,
// or kept in a spool.
func TestStreams(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "jsonl", "sarif", "github"} {
		var b bytes.Buffer
		p, err := New(format, &b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range sample() {
			before := b.Len()
			if err := p.Object(o); err != nil {
				t.Fatal(err)
			}
			if o.Verdict == Invalid && b.Len() == before {
				t.Errorf("%s: nothing is written of a refused object", format)
			}
		}
	}
}

// TestSpool writes more than the spool keeps in memory.
func TestSpool(t *testing.T) {
	t.Parallel()
	var s spool
	defer s.reset()
	var want, got bytes.Buffer
	for i := range 400 {
		data := bytes.Repeat([]byte{byte('a' + i%26)}, 10_000)
		want.Write(data)
		if _, err := s.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if s.file == nil || s.mem.Cap() > 4*maxSpool {
		t.Errorf("%d bytes are in memory", s.mem.Cap())
	}
	if err := s.copyTo(&got); err != nil || !bytes.Equal(want.Bytes(), got.Bytes()) {
		t.Errorf("%d bytes come out of %d: %v", got.Len(), want.Len(), err)
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	long, wide := strings.Repeat("x", 300), strings.Repeat("語", 300)
	for name, test := range map[string]struct {
		line    string
		index   int
		hide    int
		secrets secret.Texts
		want    Excerpt
	}{
		"short":       {"  a: 1  ", 2, 1 << 20, nil, Excerpt{"  a: 1", 2}},
		"tabs":        {"\ta: \x1b1", 1, 1 << 20, nil, Excerpt{" a:  1", 1}},
		"blanks":      {"a\v\f\r\u0085\u2028\u00a0\u3000\u202eb", 9, 1 << 20, nil, Excerpt{"a     \u00a0\u3000 b", 9}},
		"begin":       {long, 0, 1 << 20, nil, Excerpt{long[:100] + "…", 0}},
		"end":         {long, 299, 1 << 20, nil, Excerpt{"…" + long[:100], 100}},
		"middle":      {long, 150, 1 << 20, nil, Excerpt{"…" + long[:100] + "…", 26}},
		"wide":        {wide, 150, 1 << 20, nil, Excerpt{"…" + wide[:50*len("語")] + "…", 13}},
		"wide end":    {wide, 299, 1 << 20, nil, Excerpt{"…" + wide[:50*len("語")], 50}},
		"secret":      {"  password: hunter2", 2, 12, nil, Excerpt{"  password: (hidden)", 2}},
		"its item":    {"- hunter2", 2, 2, nil, Excerpt{"- (hidden)", 2}},
		"flow secret": {"x: {password: hunter2, a: 1}", 4, 14, nil, Excerpt{"x: {password: (hidden)", 4}},
		"after it":    {"x: {password: hunter2, a: 1}", 23, 14, nil, Excerpt{}},
		"elsewhere":   {"a: my hunter2", 0, 1 << 20, secret.Texts{"hunter2"}, Excerpt{}},
		"all secret":  {"Hunter2: x", 0, 9, secret.Texts{"hunter2"}, Excerpt{}},
	} {
		if got := NewExcerpt(test.line, test.index, test.hide, 0, test.secrets); got != test.want {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}

func TestNarrowExcerpt(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	NewExcerpt("  日本語: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, b: 1", 39, 1<<20, 20, nil).show(&b, 7)
	NewExcerpt("{日本語: 1, b: 2}", 9, 1<<20, 20, nil).show(&b, 123456)
	want := "    7 | …aaaaaaaaaaaaaa, b: 1\n      |                  ^\n123456 | {日本語: 1, b: 2}\n       |             ^\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestPreview(t *testing.T) {
	t.Parallel()
	v := map[string]any{"b": "<x>", "a": []any{"my hunter2", int64(1), "HUNTER2", "hunt", ""}}
	if got, want := Preview(v, secret.Texts{"hunter2"}), `{"a":["(hidden)",1,"(hidden)","(hidden)",""],"b":"<x>"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	got := []rune(Preview(strings.Repeat("é", 500), nil))
	if len(got) > valueWidth || !strings.Contains(string(got), " … ") {
		t.Errorf("%d characters: %s", len(got), string(got))
	}
}
