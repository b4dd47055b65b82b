package print

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/findingtest"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

func TestJUnit(t *testing.T) {
	t.Parallel()
	suites := findingtest.JUnit(t, render(t, "junit"))
	if diff := cmp.Diff([]string{"f.yaml", "dir/g h%.json", "-", "z.yaml"}, suites); diff != "" {
		t.Error(diff)
	}
}

func TestCutShort(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json", "jsonl", "junit", "sarif", "github", "gitlab", "markdown"} {
		for _, interrupted := range []bool{false, true} {
			for n := range sample() {
				data := renderSome(t, format, sample()[:n], &finding.Summary{Interrupted: interrupted})
				if got := bytes.Contains(data, []byte("interrupted")); got != interrupted {
					t.Errorf("%s of %d objects: says interrupted %t, want %t:\n%s", format, n, got, interrupted, data)
				}
				switch format {
				case "junit":
					findingtest.JUnit(t, data)
				case "sarif":
					findingtest.SARIF(t, data)
				case "gitlab":
					var issues []gitlabIssue
					if err := json.Unmarshal(data, &issues); err != nil {
						t.Errorf("gitlab: %v: %s", err, data)
					}
				case "json":
					findingtest.JSON(t, checkSchema, "", data)
				case "jsonl":
					for line := range bytes.Lines(data) {
						findingtest.JSON(t, checkSchema, "#/definitions/line", line)
					}
				}
			}
		}
	}
}

type command struct {
	name       string
	properties map[string]string
	data       string
}

// parseCommand parses a line as GitHub's runner does: properties end at the first "::" after the
// name and are separated by commas.
func parseCommand(line string) (c command, err error) {
	rest, ok := strings.CutPrefix(line, "::")
	head, data, found := strings.Cut(rest, "::")
	if !ok || !found {
		return c, fmt.Errorf("no workflow command: %q", line)
	}
	name, list, _ := strings.Cut(head, " ")
	c = command{name, map[string]string{}, unescape(data, "%0D", "\r", "%0A", "\n", "%25", "%")}
	for _, property := range strings.Split(list, ",") {
		key, value, ok := strings.Cut(property, "=")
		if !ok {
			return c, fmt.Errorf("no key=value: %q in %q", property, line)
		}
		c.properties[key] = unescape(value, "%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%")
	}
	return c, nil
}

func unescape(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }

func TestGitHub(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	title, file := "t: 100%,\n%0A", "a,b:c%25 \r\n.yaml"
	f := finding.Finding{Level: "error", At: finding.Location{File: file, Line: 3, Column: 4}, Title: title, Message: nasty}
	p := newGitHub(untrusted.NewWriter(&b))
	if err := errors.Join(p.annotate(&f), p.End(End{})); err != nil {
		t.Fatal(err)
	}
	c, err := parseCommand(strings.TrimSuffix(b.String(), "\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := command{"error", map[string]string{"file": file, "line": "3", "col": "4", "title": `t: 100%,\n%0A`}, string(untrusted.Text(string(Sentence(nasty))))}
	if diff := cmp.Diff(want, c, cmp.AllowUnexported(command{})); diff != "" {
		t.Error(diff)
	}

	lines := strings.Split(strings.TrimSuffix(string(render(t, "github")), "\n"), "\n")
	if len(lines) != 7 {
		t.Errorf("%d lines, want 6 annotations and the summary", len(lines))
	}
	for _, line := range lines[:len(lines)-1] {
		c, err := parseCommand(line)
		if err != nil {
			t.Error(err)
		}
		for key := range c.properties {
			if !slices.Contains([]string{"file", "line", "col", "title"}, key) {
				t.Errorf("a property %s: %s", key, line)
			}
		}
		if c.name != "error" && c.name != "warning" || c.properties["file"] == "" || c.data == "" {
			t.Errorf("an empty or wrong command: %s", line)
		}
	}
}

const checkSchema = "../../../../../docs/check-report.schema.json"

func TestJSON(t *testing.T) {
	t.Parallel()
	data := render(t, "json")
	findingtest.JSON(t, checkSchema, "", data)
	var r struct{ Objects []finding.Object }
	if err := json.Unmarshal(data, &r); err != nil || len(r.Objects) != len(sample()) {
		t.Errorf("%d objects: %v", len(r.Objects), err)
	}
	lines := bytes.Split(bytes.TrimSpace(render(t, "jsonl")), []byte("\n"))
	if len(lines) != len(sample())+1 {
		t.Errorf("%d lines, want %d", len(lines), len(sample())+1)
	}
	for _, line := range lines {
		findingtest.JSON(t, checkSchema, "#/definitions/line", line)
	}
}
