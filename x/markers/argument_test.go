package markers

import (
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, marker string
		rule, more   string // more is name=value
		bad          string // the error message
		badAt        string // the text at the error's position
	}{
		{name: "quoted", marker: `rule="self.a == \"x\"",message="m"`, rule: `self.a == "x"`, more: "message=m"},
		{name: "backticks", marker: "rule=`self.a == \"x\"`,message=`m`", rule: `self.a == "x"`, more: "message=m"},
		{name: "bare", marker: `rule=self.a == 1, message=two words`, rule: "self.a == 1", more: "message=two words"},
		{name: "bare and cut by a space before the comma", marker: `rule=self.a == 1 ,message=m`, rule: "self.a == ", more: "message=m"},
		{name: "other first", marker: `message="a, b",rule="self.a"`, rule: "self.a", more: "message=a, b"},
		{name: "list of another generator", marker: `featureGate=A;B,rule="self.a"`, rule: "self.a", more: "featureGate=A;B"},
		{name: "white space", marker: "rule = \"self.a\" ,\toptionalOldSelf = true", rule: "self.a", more: "optionalOldSelf=true"},
		{name: "cut by a quote", marker: `rule="self.a == "x"",message="m"`, rule: "self.a == ", bad: "want a comma after the value of rule", badAt: `x"",`},
		{name: "cut by a comma", marker: `rule=self.all(x, x > 1)`, rule: "self.all(x", bad: "want = after x", badAt: "> 1)"},
		{name: "cut by a semicolon", marker: `rule=self.a == ';'`, rule: "self.a == '", bad: "want a comma after the value of rule", badAt: ";'"},
		{name: "no end", marker: `rule="self.a`, bad: "literal not terminated", badAt: `"self.a`},
		{name: "misspelt", marker: `rule="1",mesage="m"`, rule: "1", bad: "unknown argument mesage: did you mean message?", badAt: "mesage"},
		{name: "several lines", marker: `rule="1",`, rule: "1", bad: "the marker ends with its line: write all arguments on one line"},
		{name: "no rule", marker: `message="m"`, more: "message=m", bad: "the argument rule is missing"},
		{name: "no bool", marker: `rule="1",optionalOldSelf="true"`, rule: "1", bad: "want true or false", badAt: `"true"`},
		{name: "no value", marker: `rule=`},
		{name: "twice", marker: `rule="1",rule="2"`, rule: "2"},
		{name: "typographic", marker: `rule=“self.a”`, rule: "“self.a”"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			list, bad := arguments(c.marker, 0, !strings.Contains(c.marker, "featureGate"))
			m := Marker{Arguments: list}
			if c.rule != m.Argument("rule") {
				t.Errorf("rule: got %q, want %q", m.Argument("rule"), c.rule)
			}
			for _, pair := range strings.Split(c.more, "&") {
				if name, value, ok := strings.Cut(pair, "="); ok && m.Argument(name) != value {
					t.Errorf("%s: got %q, want %q", name, m.Argument(name), value)
				}
			}
			switch {
			case bad == nil && c.bad != "":
				t.Errorf("read to its end; want %q", c.bad)
			case bad != nil && (bad.message != c.bad && bad.message != c.bad+quoting || !strings.HasPrefix(c.marker[bad.offset:], c.badAt)):
				t.Errorf("got %q at %q, want %q at %q", bad.message, c.marker[bad.offset:], c.bad, c.badAt)
			}
		})
	}
}

func TestOffsets(t *testing.T) {
	t.Parallel()
	const marker = `rule="a\t\"é\u00e9\U0001F600\x41\101\\n\nZ"`
	list, bad := arguments(marker, 100, true)
	if bad != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, bad)
	}
	v := &list[0].Value
	if want := "a\t\"éé😀AA\\n\nZ"; v.Text != want {
		t.Fatalf("got %q, want %q", v.Text, want)
	}
	for _, c := range []struct {
		line, column int
		at           string
	}{
		{1, 1, `a`}, {1, 2, `\t`}, {1, 3, `\"`}, {1, 4, `é`}, {1, 5, `\u00e9`}, {1, 6, `\U0001F600`}, {1, 7, `\x41`}, {1, 8, `\101`},
		{1, 9, `\\n`}, {1, 10, `n\n`}, {2, 1, `Z`}, {2, 2, `"`}, {2, 9, `"`}, {9, 1, `"`},
	} {
		offset := v.offset(v.at(c.line, c.column)) - 100
		if !strings.HasPrefix(marker[offset:], c.at) {
			t.Errorf("%d:%d: at %q, want %q", c.line, c.column, marker[offset:], c.at)
		}
	}
}

func FuzzMarker(f *testing.F) {
	f.Add(`// +kubebuilder:validation:XValidation:rule="self.a == \"x\"",message="m"`)
	f.Add("// +kubebuilder:validation:items:XValidation:rule=`self`,reason=X")
	f.Add("//+kubebuilder:validation:XValidation:rule=self.a;b}")
	f.Add("// +kubebuilder:validation:ExactlyOneOf=a;b")
	f.Add("//\u00a0<gateway:experimental:validation:XValidation:rule='")
	f.Fuzz(func(t *testing.T, comment string) {
		if strings.ContainsAny(comment, "\n") {
			return
		}
		file := &file{name: "f.go", text: "\n" + comment}
		file.index()
		m := newMarker(file, comment, 1)
		if m == nil {
			return
		}
		for column := range len(comment) + 2 {
			for _, name := range []string{"rule", "message"} {
				if p := m.At(name, 1, column); p.Line != 2 || p.Column < 1 || p.Column > len(comment)+1 {
					t.Fatalf("%s, column %d: %+v", name, column, p)
				}
			}
		}
		if m.bad != nil && (m.bad.offset < 1 || m.bad.offset > len(file.text)) {
			t.Fatalf("bad at %d", m.bad.offset)
		}
	})
}
