package untrusted

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/hostile"
)

func TestLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "",
		"plain: [a] \\n 100% 日本語 é ❤️": "plain: [a] \\n 100% 日本語 é ❤️",
		"a\nb\r\n\tc":              `a\nb\r\n\tc`,
		"\x00\x1b[31m\x7f":         `\x00\x1b[31m\u007f`,
		"\u0085\u009b1m":           `\u0085\u009b1m`,
		"a\u202eb\u2066\u200f":     `a\u202eb\u2066\u200f`,
		"\u200b\u200d\ufeff\u00ad": `\u200b\u200d\ufeff\u00ad`,
		"\u2028\u2029\u3164":       `\u2028\u2029\u3164`,
		"\ufffe\ufdd0\ufffd":       `\ufffe\ufdd0` + "\ufffd",
		"\U000e0041":               `\udb40\udc41`,
		"\xff\xe2\x80":             `\xff\xe2\x80`,
	} {
		if got := string(Line(text)); got != want {
			t.Errorf("Line(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	if got, want := Lines("a\n | b\nc\n  d\n", " | ", "ERROR: "), Safe("a\n | b\\nc\\n  d\\n"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSprintf(t *testing.T) {
	t.Parallel()
	type named string
	for want, got := range map[Safe]Safe{
		`a\nb`:             Sprintf("%s", "a\nb"),
		`"a\nb" 'x\ny' `:   Sprintf("%q '%s' ", "a\nb", "x\ny"),
		`a\nb  | 007`:      Sprintf("%-6s| %03d", "a\nb", 7),
		"own\n x\\n":       Sprintf("%s x%s", Safe("own\n"), errors.New("\n")),
		`\x1b 1.5 9 10`:    Sprintf("%v %.1f %d %d", named("\x1b"), 1.5, uint64(9), int64(10)),
		"\x1b[31mr\x1b[0m": Paint(Red, "r"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

var hostileTexts = []string{
	"::error file=x::pwn", "  ::error::x", "\t::add-mask::x", "\u00a0\u3000::error::x", "\u200b::error::x", ":\u0301:error::x", "\x00::x", "a\n::x\n:\n::y\r::z", ":", "::",
	"##[error]x", "a ##[group]", "###[x]", "##vso[task.setvariable]x", "##teamcity[x]", "#\u0301#[error]", "#\ufe0f#\ufe0f[error]", "##\n[x]", "#", "##", "[error]",
	"\x1b]8;;http://x\x07y\x1b]8;;\x07", "\x1b]52;c;eA==\x1b\\", "\x1b[31mred\x1b[2J\x9b1m\u009b1m", "\xe2\x80\xae\xe2\x80", "\xe2", "\x80\xae", "é日本語", "%0A::error::x",
}

func FuzzWriter(f *testing.F) {
	f.Add(strings.ReplaceAll(hostile.Text, "PWNED", ""), strings.ReplaceAll(hostile.Broken, "PWNED", "")) // line breaks pass
	for _, a := range hostileTexts {
		for _, b := range hostileTexts {
			f.Add(a, b)
		}
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		var split, whole bytes.Buffer
		w := NewWriter(&split)
		for _, text := range []string{a, b, "\n"} {
			if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
				t.Fatalf("%d of %d bytes: %v", n, len(text), err)
			}
		}
		_, _ = NewWriter(&whole).Write([]byte(a + b + "\n"))
		if split.String() != whole.String() {
			t.Errorf("%q in two: %q, in one: %q", a+b, split.String(), whole.String())
		}
		hostile.Harmless(t, "Writer", split.Bytes())
		hostile.Harmless(t, "Text", []byte(Text(a+b)))
		if own := Line(a + b); strings.Contains(string(own), "\n") {
			t.Errorf("%q has several lines", own)
		}

		var again bytes.Buffer
		_, _ = NewWriter(&again).Write(split.Bytes())
		if again.String() != split.String() {
			t.Errorf("%q is escaped twice: %q", split.String(), again.String())
		}

		// JSON keeps its meaning.
		data, err := json.Marshal(map[string]string{a: b})
		if err != nil {
			t.Fatal(err)
		}
		var raw bytes.Buffer
		enc := json.NewEncoder(NewWriter(&raw))
		enc.SetEscapeHTML(false)
		if err := enc.Encode(map[string]string{a: b}); err != nil {
			t.Fatal(err)
		}
		hostile.Harmless(t, "JSON", raw.Bytes())
		var got, want map[string]string
		if err := errors.Join(json.Unmarshal(raw.Bytes(), &got), json.Unmarshal(data, &want)); err != nil {
			t.Fatalf("%v in %q", err, raw.Bytes())
		}
		for k, v := range want {
			if got[k] != v {
				t.Errorf("%q: got %q from the writer, want %q", k, got[k], v)
			}
		}
	})
}

func TestWriterPasses(t *testing.T) {
	t.Parallel()
	text := "The Thing \"a\" is invalid: \n* a::b: x\n  --> f.yaml:1:2: a # b [c] ##\n    1 | 日本語: ❤️ \\x1b\n \u00a0: x\n"
	var b bytes.Buffer
	if _, err := NewWriter(&b).Write([]byte(text)); err != nil || b.String() != text {
		t.Errorf("%v: %q", err, b.String())
	}
}

func TestColours(t *testing.T) {
	t.Parallel()
	text := string("\n"+Paint(Red, "::x")) + "\x1b[2J\x1b[32;1m"
	for colours, want := range map[bool]string{
		true:  "\n\x1b[31m:\\u003ax\x1b[0m\\x1b[2J\\x1b[32;1m",
		false: "\n\\x1b[31m::x\\x1b[0m\\x1b[2J\\x1b[32;1m",
	} {
		var b bytes.Buffer
		w := NewWriter(&b)
		w.Colors = colours
		_, _ = w.Write([]byte(text))
		if b.String() != want {
			t.Errorf("colours %t: got %q, want %q", colours, b.String(), want)
		}
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := NewWriter(&b)
	_ = w.Command("::error ", "title=a\n::error::b##[x]\x1b::c")
	_, _ = w.Write([]byte("::d"))
	if want := "::error title=a\\n::error::b##\\u005bx]\\x1b::c\n:\\u003ad"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func BenchmarkWriter(b *testing.B) {
	text := bytes.Repeat([]byte(`  {"file":"objects/a.yaml","kind":"Thing","message":"spec.x: Invalid value: 3: must be less"}`+"\n"), 1000)
	w := NewWriter(io.Discard)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		_, _ = w.Write(text)
	}
}
