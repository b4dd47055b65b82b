package jsontext

import (
	"bytes"
	"strings"
	"testing"
)

// TestPlain checks each byte at each position of a text.
func TestPlain(t *testing.T) {
	t.Parallel()
	for length := range 20 {
		text := bytes.Repeat([]byte("~"), length)
		for at := range length {
			for c := range 256 {
				text[at] = byte(c)
				want := at
				if c >= ' ' && c < 0x80 && c != '"' && c != '\\' {
					want = length
				}
				if got := Plain(text, 0); got != want {
					t.Fatalf("%q: got %d, want %d", text, got, want)
				}
				if got := Plain(string(text), at+1); got != length {
					t.Fatalf("%q from %d: got %d, want %d", text, at+1, got, length)
				}
				text[at] = '~'
			}
		}
	}
}

// TestPlainFirst checks that the first of several bytes that are not plain is found.
func TestPlainFirst(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{"\x00\"", "\"\x00", "\\!", "\"#", "\x80\xff", "\x1f ", "\"!\"", "\\]"} {
		for before := range 9 {
			text := strings.Repeat("a", before) + odd + strings.Repeat("a", 8)
			if got := Plain(text, 0); got != before {
				t.Errorf("%q: got %d, want %d", text, got, before)
			}
		}
	}
}
