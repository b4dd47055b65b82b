package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xeipuuv/gojsonschema"

	"github.com/celadon-cel/celadon/internal/foreign"
)

// element is what a JUnit report may hold in one place, as the schema of
// Jenkins' xUnit plugin (junit-10.xsd) has it.
type element struct {
	need, may []string // attributes
	children  []string // in any order and number, but for single
	single    bool     // each child once at most
	text      bool
}

var junitElements = map[string]element{
	"": {children: []string{"testsuites"}, single: true},
	"testsuites": {
		may:      []string{"name", "time", "tests", "failures", "errors"},
		children: []string{"testsuite"},
	},
	"testsuite": {
		need:     []string{"name", "tests", "failures", "errors"},
		may:      []string{"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
		children: []string{"testsuite", "properties", "testcase", "system-out", "system-err"},
	},
	"testcase": {
		need:     []string{"name"},
		may:      []string{"time", "classname", "group"},
		children: []string{"skipped", "error", "failure", "system-out", "system-err"},
		single:   true,
	},
	"failure":    {may: []string{"type", "message"}, text: true},
	"error":      {may: []string{"type", "message"}, text: true},
	"skipped":    {may: []string{"type", "message"}, text: true},
	"system-out": {text: true},
	"system-err": {text: true},
}

// counts are the attributes of a suite that count its cases, by the element in
// a case that is counted.
var counts = map[string]string{"testcase": "tests", "failure": "failures", "error": "errors", "skipped": "skipped"}

var surefireTime = regexp.MustCompile(`^(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?$`)

// junitDocument holds a report against the elements, and a suite's counts
// against its cases. It returns the names of the suites.
func junitDocument(t *testing.T, data []byte) (suites []string) {
	t.Helper()
	type open struct {
		name  string
		seen  []string
		attrs map[string]string
		found map[string]int
	}
	stack := []*open{{}}
	dec := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in:\n%s", err, data)
		}
		top := stack[len(stack)-1]
		in := junitElements[top.name]
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			if !slices.Contains(in.children, name) || in.single && slices.Contains(top.seen, name) {
				t.Errorf("<%s> in <%s>, which has %v", name, top.name, top.seen)
			}
			top.seen = append(top.seen, name)
			next := &open{name: name, attrs: map[string]string{}, found: map[string]int{}}
			for _, a := range token.Attr {
				next.attrs[a.Name.Local] = a.Value
				if e := junitElements[name]; !slices.Contains(slices.Concat(e.need, e.may), a.Name.Local) {
					t.Errorf("<%s> has an attribute %s", name, a.Name.Local)
				}
			}
			for _, need := range junitElements[name].need {
				if next.attrs[need] == "" {
					t.Errorf("<%s> has no %s", name, need)
				}
			}
			if !surefireTime.MatchString(next.attrs["time"]) {
				t.Errorf("<%s> has the time %q", name, next.attrs["time"])
			}
			for _, above := range stack {
				if above.name == "testsuite" {
					above.found[name]++
				}
			}
			if name == "testsuite" {
				suites = append(suites, next.attrs["name"])
			}
			stack = append(stack, next)
		case xml.EndElement:
			for name, attr := range counts {
				if want := top.found[name]; top.name == "testsuite" && top.attrs[attr] != strconv.Itoa(want) && !(want == 0 && top.attrs[attr] == "") {
					t.Errorf("suite %s: %s=%q, want %d", top.attrs["name"], attr, top.attrs[attr], want)
				}
			}
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if !in.text && len(bytes.TrimSpace(token)) > 0 {
				t.Errorf("text in <%s>: %q", top.name, token)
			}
		}
	}
	return suites
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	suites := junitDocument(t, render(t, "junit"))
	if diff := cmp.Diff([]string{"f.yaml", "dir/g h%.json", "-", "z.yaml"}, suites); diff != "" {
		t.Error(diff)
	}
}

// TestCutShort holds that reports of no object and of interrupted runs are
// documents too, and that the latter say so.
func TestCutShort(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json", "jsonl", "junit", "sarif", "github"} {
		for _, interrupted := range []bool{false, true} {
			for n := range sample() {
				data := renderSome(t, format, sample()[:n], &Summary{Interrupted: interrupted})
				if got := bytes.Contains(data, []byte("interrupted")); got != interrupted {
					t.Errorf("%s of %d objects: says interrupted %t, want %t:\n%s", format, n, got, interrupted, data)
				}
				switch format {
				case "junit":
					junitDocument(t, data)
				case "sarif":
					sarifDocument(t, data)
				case "json":
					jsonDocument(t, "", data)
				case "jsonl":
					for line := range bytes.Lines(data) {
						jsonDocument(t, "#/definitions/line", line)
					}
				}
			}
		}
	}
}

// command is a workflow command of GitHub: a name, properties and data.
type command struct {
	name       string
	properties map[string]string
	data       string
}

// parseCommand reads a line as GitHub's runner does: properties end at the
// first "::" behind the name, and are told apart by commas.
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

// TestGitHub holds that the runner reads out of each command what was put in.
func TestGitHub(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	title, file := "t: 100%,\n%0A", "a,b:c%25 \r\n.yaml"
	if err := Annotate(foreign.NewWriter(&b), "error", Place{File: file, Line: 3, Column: 4}, title, foreign.Text(nasty)); err != nil {
		t.Fatal(err)
	}
	c, err := parseCommand(strings.TrimSuffix(b.String(), "\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := command{"error", map[string]string{"file": file, "line": "3", "col": "4", "title": `t: 100%,\n%0A`}, string(foreign.Text(nasty))}
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

// jsonDocument holds JSON against docs/check-report.schema.json, or a part of
// it.
func jsonDocument(t *testing.T, part string, data []byte) {
	t.Helper()
	text, err := os.ReadFile("../../../../docs/check-report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	schema := map[string]any{}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	if part != "" {
		schema = map[string]any{"definitions": schema["definitions"], "$ref": part}
	}
	result, err := gojsonschema.Validate(gojsonschema.NewGoLoader(schema), gojsonschema.NewBytesLoader(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range result.Errors() {
		t.Errorf("%s in:\n%s", e, data)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	data := render(t, "json")
	jsonDocument(t, "", data)
	var r struct{ Objects []Object }
	if err := json.Unmarshal(data, &r); err != nil || len(r.Objects) != len(sample()) {
		t.Errorf("%d objects: %v", len(r.Objects), err)
	}
	lines := bytes.Split(bytes.TrimSpace(render(t, "jsonl")), []byte("\n"))
	if len(lines) != len(sample())+1 {
		t.Errorf("%d lines, want %d", len(lines), len(sample())+1)
	}
	for _, line := range lines {
		jsonDocument(t, "#/definitions/line", line)
	}
}
