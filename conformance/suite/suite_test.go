package suite_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/celadon-cel/celadon/conformance/suite"
)

var update = flag.Bool("update", false, "rewrite the reports in testdata")

// behavior is the environment variable that makes the test binary an implementation.
const behavior = "CELADON_SUITE_BEHAVIOR"

func TestMain(m *testing.M) {
	if how := os.Getenv(behavior); how != "" {
		implement(how)
		return
	}
	os.Exit(m.Run())
}

// By default, each write is accepted with code 201 and its own object.
func implement(how string) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 8<<20)
	for in.Scan() {
		var req suite.Request
		if err := json.Unmarshal(in.Bytes(), &req); err != nil {
			panic(err)
		}
		a := map[string]any{"id": req.ID}
		if req.Type == "hello" {
			switch how {
			case "silent":
				time.Sleep(time.Hour)
			case "no levels":
			case "unknown level":
				a["levels"] = []string{"speed"}
			case "one minor":
				a["levels"], a["minors"] = suite.Levels(), []string{"1.37"}
			default:
				a["name"], a["levels"] = "test\x1b[31m", suite.Levels()
			}
			respond(a)
			continue
		}
		a["allowed"], a["code"], a["object"], a["cost"] = true, 201, req.Object, 7
		misbehave(how, req.ID == "1.36 g/a", a)
		respond(a)
	}
	if how == "deaf" {
		time.Sleep(time.Hour)
	}
}

func misbehave(how string, first bool, a map[string]any) {
	switch {
	case how == "unsupported":
		a["unsupported"] = "everything"
	case how == "hang" && first:
		time.Sleep(time.Hour)
	case how == "exit" && first:
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(3)
	case how == "always exits":
		os.Exit(3)
	case how == "garbage" && first:
		fmt.Println("Hello!")
	case how == "long line" && first:
		fmt.Println(strings.Repeat("x", 5<<20))
	case how == "wrong id" && first:
		a["id"] = "other"
	case how == "twice" && first:
		respond(a)
	case how == "unknown field" && first:
		a["cause"] = 1
	case how == "two values" && first:
		fmt.Print("{} ")
	case how == "deep" && first:
		a["object"] = json.RawMessage(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000))
	case how == "no object":
		delete(a, "object")
	case how == "noise":
		fmt.Fprint(os.Stderr, strings.Repeat("noise ", 10_000))
	}
}

func respond(a map[string]any) {
	data := []byte(fmt.Sprintf(`{"id":%q`, a["id"]))
	for key, value := range a {
		if key == "id" {
			continue
		}
		if raw, ok := value.(json.RawMessage); ok {
			data = fmt.Appendf(data, ",%q:%s", key, raw) // Marshal rejects deep values
			continue
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		data = fmt.Appendf(data, ",%q:%s", key, encoded)
	}
	fmt.Printf("%s}\n", data)
}

// The implementation of this file responds correctly to two of the three writes.
func small() *suite.Suite {
	cost := int64(7)
	object := json.RawMessage(`{"metadata":{"name":"a"}}`)
	one := func(id string, r suite.Response) suite.Case {
		return suite.Case{
			ID: "g/" + id, Group: "g", CRD: "c", Write: suite.Write{Version: "v1", FieldValidation: "Ignore", Object: object},
			Answers: []suite.Expected{{Minors: []string{"1.36", "1.37"}, Response: r}},
		}
	}
	accepted := suite.Response{Allowed: true, Code: 201, Object: json.RawMessage(`{"metadata":{"name":"a","uid":"1"}}`), Cost: &cost}
	rejected := suite.Response{Code: 422, Causes: []suite.Cause{{Reason: "FieldValueInvalid", Field: "spec", Message: "no"}}}
	return &suite.Suite{
		Head: suite.Head{
			Format: suite.Format, Groups: []suite.Group{{Name: "g"}},
			Minors: []suite.Minor{{Minor: "1.36", Source: "library"}, {Minor: "1.37", Source: "server"}},
		},
		CRDs:  []suite.CRD{{ID: "c", CRD: json.RawMessage(`{}`)}},
		Cases: []suite.Case{one("a", accepted), one("b", accepted), one("c", rejected)},
	}
}

func TestImplementations(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		behavior, known string
		// text is a part of the report, err of the error.
		text, err string
	}{
		{behavior: "well", text: "g  4/6  4/6     4/4   4/4            0"},
		{behavior: "one minor", text: "g  2/3  2/3     2/2   2/2            0"},
		{behavior: "well", known: "verdict 1.* g/c: always accepts\ncauses 1.3? *: always accepts", text: "g  4/6 (2)  4/6 (2)     4/4   4/4            0"},
		{behavior: "well", known: "cost * g/a: no cost", text: "known differences, line 1: no difference matches (no cost)"},
		{behavior: "unsupported", err: "no answer was compared", text: "g        -       -       -     -            6"},
		{behavior: "no object", text: "want an object, got none"},
		{behavior: "noise", text: "g  4/6"},
		{behavior: "deaf", text: "g  4/6"},
		{behavior: "hang", text: "no valid answer: no answer within"},
		{behavior: "exit", text: "no valid answer: the implementation closed its standard output"},
		{behavior: "always exits", err: "the implementation failed 6 times"},
		{behavior: "garbage", text: "not an answer: invalid character 'H'"},
		{behavior: "long line", text: "a line has over 4194304 bytes"},
		{behavior: "wrong id", text: `the answer has id "other", want "1.36 g/a"`},
		{behavior: "twice", text: `the answer has id "1.36 g/a", want "1.36 g/b"`},
		{behavior: "unknown field", text: `unknown field "cause"`},
		{behavior: "two values", text: "not an answer"},
		{behavior: "deep", text: "exceeded max depth"},
		{behavior: "silent", err: "hello: no answer within"},
		{behavior: "no levels", err: "the answer has no levels"},
		{behavior: "unknown level", err: `unknown level "speed"`},
	} {
		t.Run(tt.behavior, func(t *testing.T) {
			known, err := suite.ReadKnown(strings.NewReader(tt.known))
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv(behavior, tt.behavior)
			timeout := 5 * time.Minute
			switch tt.behavior {
			case "hang":
				timeout = 10 * time.Second // the other responses must arrive in time on a busy machine
			case "silent":
				timeout = time.Second
			}
			report, err := small().Run(t.Context(), suite.Config{Command: []string{self}, Timeout: timeout, Known: known})
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("got error %v, want %q", err, tt.err)
			}
			var b bytes.Buffer
			report.Print(&b, 20)
			if text := squeezed(b.String()); !strings.Contains(text, squeezed(tt.text)) {
				t.Errorf("got\n%s\nwant %q", b.String(), tt.text)
			}
			if strings.Contains(b.String(), "\x1b") {
				t.Error("the report has control characters of the implementation")
			}
		})
	}
}

func squeezed(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestSelection(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cfg suite.Config
		err string
	}{
		{suite.Config{}, "no command"},
		{suite.Config{Command: []string{"x"}, Minors: []string{"1.5"}}, `unknown minor version "1.5"`},
		{suite.Config{Command: []string{"x"}, Groups: []string{"nope"}}, `unknown group "nope"`},
		{suite.Config{Command: []string{"no-such-command"}}, "start no-such-command"},
	} {
		if _, err := small().Run(t.Context(), tt.cfg); err == nil || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("got %v, want %q", err, tt.err)
		}
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"# comment\n\ncost * *: r": "",
		"cost *: r":                `line 1: want "level minor case: reason"`,
		"cost * *":                 `line 1: want "level minor case: reason"`,
		"\nspeed * *: r":           `line 2: unknown level "speed"`,
		"cost [ *: r":              "syntax error in pattern",
		strings.Repeat("#\n", 10_000) + "cost * *: r": "at most 10000 lines",
	} {
		_, err := suite.ReadKnown(strings.NewReader(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.50q: got %v, want %q", text, err, want)
		}
	}
}

func TestExample(t *testing.T) {
	python, err := exec.LookPath("python3")
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("no python3")
	}
	source, err := os.ReadFile("example/example.py")
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(source, []byte("\n")); lines > 60 {
		t.Errorf("the example has %d lines, want at most 60", lines)
	}
	s, err := suite.Default()
	if err != nil {
		t.Fatal(err)
	}
	cfg := suite.Config{Command: []string{python, "example/example.py"}, Minors: []string{"1.37"}, Timeout: time.Minute}
	report, err := s.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !report.Passed() {
		t.Error("the example has unknown differences")
	}
	var b bytes.Buffer
	report.Print(&b, 20)
	golden(t, filepath.Join("testdata", "example.txt"), b.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}
