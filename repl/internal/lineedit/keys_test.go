package lineedit

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

type chunks struct{ left []string }

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.left) == 0 {
		return 0, errors.New("the end")
	}
	n := copy(p, c.left[0])
	if c.left = c.left[1:]; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func keysOf(k *Keys) (out []rune) {
	r := bufio.NewReader(k)
	for {
		key, _, err := r.ReadRune()
		if err != nil {
			return out
		}
		out = append(out, key)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, in string // chunks are separated by |
		want     []rune
	}{
		{"text", "aé日", []rune("aé日")},
		{"split character", "\xe6|\x97|\xa5x", []rune("日x")},
		{"arrows", "\x1b[A\x1b[B\x1bOC\x1bOD", []rune{KeyUp, KeyDown, KeyRight, KeyLeft}},
		{"split arrow", "\x1b|[|Ax", []rune{KeyUp, 'x'}},
		{"home, end, delete", "\x1b[H\x1b[4~\x1b[3~", []rune{KeyLineStart, KeyLineEnd, KeyDelete}},
		{"words", "\x1b[1;5C\x1bb\x1b\x7f", []rune{KeyWordRight, KeyWordLeft, KeyWordErase}},
		{"shift-tab", "\x1b[Z", []rune{KeyBackTab}},
		{"escape", "\x1b\x1bx", []rune{KeyEscape, KeyEscape, 'x'}},
		{"unknown sequences", "\x1b[99;99R\x1b[?1x\x1b[<1;2Mx", []rune("x")},
		{"sequence that Enter ends", "\x1b[1\r", []rune{KeyEnter}},
		{"controls", "\x00\x0f\x11\x16\x18\x1c\x1f\u0085x", []rune("x")},
		{"private characters", "\uf8e0\uf8ffx", []rune("x")},
		{"invalid", "\xffx", []rune("x")},
		{"paste", "\x1b[200~a\tb\x1b[A\x01\rc|\r\x1b[201~\t", []rune{KeyPaste, 'a', ' ', ' ', 'b', KeyEnter, 'c', KeyEnter, KeyTab}},
		{"paste without end", "\x1b[200~a\x03\t", []rune{KeyPaste, 'a', KeyInterrupt, KeyTab}},
		{"indented lines", "[1,\r\t2,\n \t3\t", []rune("[1,\r  2,\n   3\t")},
		{"tab after Enter", "x\r|\t", []rune("x\r\t")},
		{"ends of input", "a||b|||||c", []rune{'a', KeyEOF, 'b', KeyEOF, KeyEOF, KeyEOF}},
	} {
		k := NewKeys(&chunks{strings.Split(test.in, "|")})
		if diff := cmp.Diff(test.want, keysOf(k)); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
		if !k.Gone.Load() {
			t.Errorf("%s: the input is not gone", test.name)
		}
	}
}

func TestKeysPause(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	r := bufio.NewReader(NewKeys(in))
	go func() { _, _ = out.Write([]byte("\x1b")) }()
	if key, _, err := r.ReadRune(); key != KeyEscape || err != nil {
		t.Fatalf("%x, %v", key, err)
	}
	go func() { _, _ = out.Write([]byte("[A")) }()
	for _, want := range "[A" { // too late for a sequence
		if key, _, err := r.ReadRune(); key != want || err != nil {
			t.Errorf("%x, %v, want %x", key, err, want)
		}
	}
}

// FuzzKeys checks that no input yields a NUL, an escape character, or invalid UTF-8.
func FuzzKeys(f *testing.F) {
	for _, seed := range []string{"a\x1b[A", "\x1b[200~x\t\x1b[201~", "\x1b[1;5Z\x1bO\x1b", "日本\xff\xe6"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		keys := keysOf(NewKeys(iotest.HalfReader(strings.NewReader(in + "\x03"))))
		for _, key := range keys {
			if key == 0 || key == escape || key == '\ufffd' && !strings.ContainsRune(in, key) {
				t.Errorf("%q has the key %x", in, key)
			}
		}
	})
}
