// Package hostile checks that output is safe when input is hostile: fill names, keys, values, and
// messages with Text, and check the output with Harmless.
package hostile

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Text contains characters and sequences that can manipulate a terminal or mislead a reader of a
// log: all control characters, escape sequences, characters that reorder or hide text, and commands
// to CI runners.
var Text = hostileText()

// Broken is Text with invalid UTF-8. Some terminals interpret each of the added bytes as a control
// character.
var Broken = Text + "\xff\x9b31m\x9d0;PWNED\x9c\xe2\x80"

// forgedPrefix is the beginning of lines that only hostile input can cause.
const forgedPrefix = "PWNED"

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
		"\x1b[31m" + forgedPrefix, "\x1b[2J\x1b[H", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\x\x1b]8;;\x1b\\", "\x1b]52;c;eA==\x07", "\u009b31m", "\u009d0;x\u009c",
		"\n" + forgedPrefix, "\r" + forgedPrefix, "\u0085" + forgedPrefix, "\n::error file=x::" + forgedPrefix, "\n  ::error file=x::", "\n\u00a0::add-mask::a", "\n\u200b::stop-commands::x", "\r::error::x",
		"\n##[error]" + forgedPrefix, " ##[group]x", "##vso[task.complete]x", "%0A::error::x%0D%25", "]]>", "</failure>", "<![CDATA[", "&#27;", "\n" + forgedPrefix,
	} {
		b.WriteString(s)
	}
	return b.String()
}

// Fill sets the exported strings and integers that p leads to through structs, slices, and
// pointers. Each slice gets one item. New fields are therefore covered without changes to the
// tests.
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
		for i := range v.NumField() {
			fill(v.Field(i), text)
		}
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	}
}

// ownCommand matches the workflow commands with which a report begins its own lines.
var ownCommand = regexp.MustCompile(`^::(error|warning|notice) file=[^,:\n]+(,line=[0-9]+)?(,col=[0-9]+)?,title=[^,:\n]*::`)

// data decodes the text after a command, like the runner.
var data = strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%")

// Harmless reports a test error if out can manipulate a terminal, contains a forged line, or
// contains a command to a CI runner that the report did not write.
func Harmless(t *testing.T, name string, out []byte) {
	t.Helper()
	if !utf8.Valid(out) {
		t.Errorf("%s: not UTF-8: %q", name, out)
	}
	for line := range strings.Lines(string(out)) {
		text := strings.TrimSuffix(line, "\n")
		if at := strings.IndexFunc(text, steers); at >= 0 {
			t.Errorf("%s: %q in the line %q", name, []rune(text[at:])[0], text)
		}
		if strings.HasPrefix(text, forgedPrefix) {
			t.Errorf("%s: the line %q is not ours", name, text)
		}
		command := ownCommand.FindString(text)
		if isCommand(strings.TrimPrefix(text, command)) {
			t.Errorf("%s: the line %q is a command", name, text)
		}
		if command != "" {
			Harmless(t, name+": the runner's input", []byte(data.Replace(text[len(command):])))
		}
	}
}

// steers reports whether r is invisible or affects how other characters are displayed.
func steers(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point, unicode.Other_Default_Ignorable_Code_Point)
}

// isCommand follows GitHub's runner (see its ActionCommand.cs) and the agents of Azure and TeamCity. It
// ignores invisible characters, because their comparisons may do so as well.
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
