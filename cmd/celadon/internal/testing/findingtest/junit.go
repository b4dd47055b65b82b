package findingtest

import (
	"bytes"
	"encoding/xml"
	"io"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// element describes the permitted content of an XML element in a JUnit report, according to the
// schema of Jenkins' xUnit plugin (junit-10.xsd).
type element struct {
	need, may []string // names of attributes
	children  []string // in any order and number, unless single
	single    bool     // each child at most once
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

// counts maps elements to the attribute of the suite that counts them.
var counts = map[string]string{"testcase": "tests", "failure": "failures", "error": "errors", "skipped": "skipped"}

var surefireTime = regexp.MustCompile(`^(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?$`)

// JUnit validates a report against the permitted elements, and the counts of each suite against its
// cases. It returns the names of the suites.
func JUnit(t *testing.T, data []byte) (suites []string) {
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
