package decode

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	kyaml "k8s.io/apimachinery/pkg/util/yaml"
)

var separators = []string{
	"---", "--- ", "---\t", "---\r", "--- # comment", "---# comment", "---#", "---\t#x\r", "--- \u00a0",
	"--", " ---", "----", "---a", "--- a", "--- {a: b}", "--- |", "--- !!map", "# ---", "...", "a: ---", "-----BEGIN X-----",
}

func TestSeparator(t *testing.T) {
	t.Parallel()
	for _, line := range separators {
		reader := kyaml.NewYAMLReader(bufio.NewReader(strings.NewReader("a: 1\n" + line + "\nb: 2\n")))
		documents := 0
		var err error
		for err == nil {
			if _, err = reader.Read(); err == nil {
				documents++
			}
		}
		if got, want := Separator([]byte(line+"\n")), documents == 2; got != want {
			t.Errorf("Separator(%q) = %v, kubectl reads %d documents", line, got, documents)
		}
		if got, want := WrongSeparator([]byte(line)), !errors.Is(err, io.EOF); got != want {
			t.Errorf("WrongSeparator(%q) = %v, kubectl's error is %v", line, got, err)
		}
	}
}

func TestAround(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text  string // | marks the offset
		want  string
		index int
	}{
		{"a|: 1\n---\nb: 2\n", "a: 1\n", 0},
		{"a: 1\n|---\nb: 2\n", "b: 2\n", 1},
		{"a: 1\n--|- # comment\nb: 2\n---\nc: 3\n", "b: 2\n", 1},
		{"a: 1\n--- # comment\n|b: 2\n---\nc: 3\n", "b: 2\n", 1},
		{"a: 1\n---\r\nb|: 2\r\n---\r\nc: 3\r\n", "b: 2\r\n", 1},
		{"a: 1\n--- x\nb|: 2\n", "a: 1\n--- x\nb: 2\n", 0},
		{"a: |\n  -----BEGIN X-----\n", "a: \n  -----BEGIN X-----\n", 0},
		{"\ufeff---\na: 1|\n", "a: 1\n", 1},
		{"a: 1\n---|", "", 1},
		{"|", "", 0},
	} {
		offset := strings.Index(test.text, "|")
		text := strings.Replace(test.text, "|", "", 1)
		start, end, index := Around([]byte(text), offset)
		if got := text[start:end]; got != test.want || index != test.index {
			t.Errorf("%q: got %q, %d, want %q, %d", test.text, got, index, test.want, test.index)
		}
	}
}
