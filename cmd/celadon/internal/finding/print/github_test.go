package print

import (
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

func annotations(t *testing.T, findings []finding.Finding) (notes []string) {
	t.Helper()
	var b strings.Builder
	p := newGitHub(untrusted.NewWriter(&b))
	add := func(yield func(finding.Finding) bool) {
		for _, f := range findings {
			if !yield(f) {
				return
			}
		}
	}
	if err := p.Add(finding.Result{Findings: add}); err != nil {
		t.Fatal(err)
	}
	if len(p.held) >= maxHeld || p.bytes >= maxHeldBytes {
		t.Errorf("%d annotations of %d bytes are held", len(p.held), p.bytes)
	}
	if err := p.End(End{}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		_, note, _ := strings.Cut(strings.TrimPrefix(line, "::"), "::")
		notes = append(notes, strings.TrimSuffix(note, "\n"))
	}
	return notes
}

func TestGitHubOrder(t *testing.T) {
	t.Parallel()
	one := func(level, id, field, note string) finding.Finding {
		return finding.Finding{Level: level, ID: id, At: finding.Location{File: "f", Field: field}, Message: note, Subject: []string{"f", "v1", "Kind", "", "name"}}
	}
	got := annotations(t, []finding.Finding{
		one("note", "n", "a", "note"),
		one("warning", "warning", "", "careful"),
		one("error", "rule", "spec.list[0].a", "1"),
		one("error", "rule", "spec.list[7].a", "2"),
		one("error", "rule", "spec.map[x.y].b", "3"),
		one("warning", "warning", "", "careful"),
		one("warning", "warning", "", "other"),
		one("error", "FieldValueInvalid", "spec.a", "4"),
		one("error", "rule", "spec.list[1].a", "5"),
	})
	if want := "1 3 4 2 5 careful other careful note"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

func TestGitHubLimits(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, maxHeldBytes / 10} {
		var findings []finding.Finding
		for i := range maxHeld + 5 {
			if i > 20 && size > 1 {
				break
			}
			note := fmt.Sprintf("%d%s", i, strings.Repeat("x", size))
			findings = append(findings, finding.Finding{Level: "warning", ID: "w", Message: note})
		}
		findings = append(findings, finding.Finding{Level: "error", Message: "last"})
		got := annotations(t, findings)
		if len(got) != len(findings) || got[len(got)-1] != "last" {
			t.Errorf("%d of %d annotations, the last is %.20q", len(got), len(findings), got[len(got)-1])
		}
	}
}
