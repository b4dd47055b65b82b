// Package hostile holds outputs against hostile texts: tests fill names, keys,
// values and messages with Text, and ask of what comes out that it is Harmless.
package hostile

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Text holds all that may steer a terminal, or who reads a log, as UTF-8: every
// control, escape sequences, what turns or hides text, and commands to runners.
var Text = hostileText()

// Broken is Text with bytes that are no UTF-8, each of which some terminals take
// for a control.
var Broken = Text + "\xff\x9b31m\x9d0;PWNED\x9c\xe2\x80"

// forged begins lines that are not ours.
const forged = "PWNED"

func hostileText() string {
	var b strings.Builder
	b.WriteString("a")
	for r := range rune(0xa0) {
		if unicode.IsControl(r) {
			b.WriteRune(r)
		}
	}
	for _, r := range "\u00ad\u034f\u061c\u115f\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff\ufff9\ufffe\uffff\U0001d173\U000e0041" {
		b.WriteRune(r)
	}
	for _, s := range []string{
		"\x1b[31m" + forged, "\x1b[2J\x1b[H", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\x\x1b]8;;\x1b\\", "\x1b]52;c;eA==\x07", "\u009b31m", "\u009d0;x\u009c",
		"\n" + forged, "\r" + forged, "\u0085" + forged, "\n::error file=x::" + forged, "\n  ::error file=x::", "\n\u00a0::add-mask::a", "\n\u200b::stop-commands::x", "\r::error::x",
		"\n##[error]" + forged, " ##[group]x", "##vso[task.complete]x", "%0A::error::x%0D%25", "]]>", "</failure>", "<![CDATA[", "&#27;", "\n" + forged,
	} {
		b.WriteString(s)
	}
	return b.String()
}

// Fill puts a text into every string that p leads to, and one item into every
// list, so that a field that is new is filled too.
func Fill(p any, text string) { fill(reflect.ValueOf(p).Elem(), text) }

func fill(v reflect.Value, text string) {
	switch {
	case !v.CanSet():
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.CanInt():
		v.SetInt(3)
	case v.CanUint():
		v.SetUint(3)
	case v.Kind() == reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, text)
		}
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	}
}

// own are the workflow commands that a report itself begins lines with.
var own = regexp.MustCompile(`^::(error|warning|notice) file=[^,:\n]+(,line=[0-9]+)?(,col=[0-9]+)?,title=[^,:\n]*::`)

// data is how the runner reads what stands behind a command.
var data = strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%")

// Harmless fails the test for an output that steers a terminal, that has a line
// which is not ours, or a command for a runner that is not.
func Harmless(t *testing.T, what string, out []byte) {
	t.Helper()
	if !utf8.Valid(out) {
		t.Errorf("%s: not UTF-8: %q", what, out)
	}
	for line := range strings.Lines(string(out)) {
		text := strings.TrimSuffix(line, "\n")
		if at := strings.IndexFunc(text, steers); at >= 0 {
			t.Errorf("%s: %q in the line %q", what, []rune(text[at:])[0], text)
		}
		if strings.HasPrefix(text, forged) {
			t.Errorf("%s: the line %q is not ours", what, text)
		}
		command := own.FindString(text)
		if isCommand(strings.TrimPrefix(text, command)) {
			t.Errorf("%s: the line %q is a command", what, text)
		}
		if command != "" {
			Harmless(t, what+": what the runner reads", []byte(data.Replace(text[len(command):])))
		}
	}
}

// steers is true for what shows nothing, or not itself.
func steers(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point, unicode.Other_Default_Ignorable_Code_Point)
}

// isCommand is true for a line that GitHub's runner would try as a command, as
// its ActionCommand.cs reads one, or that the agents of Azure and TeamCity would.
// Comparisons of texts may pass over what shows nothing.
func isCommand(text string) bool {
	text = strings.Map(func(r rune) rune {
		if steers(r) || unicode.Is(unicode.M, r) {
			return -1
		}
		return r
	}, text)
	if strings.HasPrefix(strings.TrimSpace(text), "::") {
		return true
	}
	for _, part := range strings.Split(text, "##")[1:] {
		if strings.HasPrefix(strings.TrimLeftFunc(part, unicode.IsLetter), "[") {
			return true
		}
	}
	return false
}
