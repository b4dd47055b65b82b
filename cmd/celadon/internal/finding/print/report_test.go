package print

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/findingtest"
	"github.com/celadon-cel/celadon/engine"
)

const nasty = "a<b>&\"c\" 'd' ]]> 100%, x:y\r\n\x00\x1b é …"

func sample() []*finding.Object {
	id := finding.Identity{APIVersion: "g/v1", Kind: "Thing", Namespace: "default", Name: "a"}
	objects := []*finding.Object{
		{File: "f.yaml", Line: 1, Identity: id, Verdict: finding.Valid, Operation: "create", Warnings: []string{nasty}},
		{File: "f.yaml", Line: 5, Identity: id, Verdict: finding.Invalid, Status: &finding.Status{Code: 422, Reason: "Invalid", Message: nasty}, Causes: []finding.Cause{
			{Reason: "FieldValueInvalid", Field: "spec", Message: nasty, Rule: "self.a <\n0", File: "f.yaml", Line: 6, Column: 3,
				Ref: &engine.RuleRef{Version: "v1", Path: "spec"}, Values: []finding.Value{{Expr: "self.a", Text: nasty}}, Excerpt: finding.Excerpt{Line: nasty, Index: 2}},
			{Reason: "FieldValueRequired", Field: "spec.b", Message: "Required value"},
		}},
		{File: "dir/g h%.json", Line: 1, Identity: id, Verdict: finding.Invalid, Operation: "create", Status: &finding.Status{Code: 400, Reason: "BadRequest", Message: nasty}},
		{File: "-", Verdict: finding.Unreadable, Problem: nasty},
		{File: "z.yaml", Line: 1, Identity: id, Verdict: finding.Skipped, Problem: "no CRD given for Thing"},
		{File: "z.yaml", Line: 3, Identity: id, Verdict: finding.Undecided, Problem: nasty, Limit: &engine.WorkLimitError{Rule: engine.RuleRef{Rule: nasty}}},
	}
	for _, o := range objects {
		o.Causes = append([]finding.Cause{}, o.Causes...)
		o.Warnings = append([]string{}, o.Warnings...)
	}
	return objects
}

func render(t *testing.T, format string) []byte {
	t.Helper()
	return renderSome(t, format, sample(), &finding.Summary{Checked: 3, Valid: 1, Invalid: 2, Skipped: 1, Unreadable: 1, Undecided: 1})
}

func renderSome(t *testing.T, format string, objects []*finding.Object, s *finding.Summary) []byte {
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

type sarifLog struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []struct {
		sarifRun
		Results []sarifResult `json:"results"`
	} `json:"runs"`
}

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

// TestStreams leaves out annotations, which are held up to a limit: see TestGitHubLimits.
func TestStreams(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "jsonl", "sarif"} {
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
			if o.Verdict == finding.Invalid && b.Len() == before {
				t.Errorf("%s: nothing is written of a refused object", format)
			}
		}
	}
}

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
