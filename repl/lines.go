package repl

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// LineReader reads lines. ReadLine returns the next line without its line terminator, or io.EOF
// after the last line.
type LineReader interface {
	ReadLine(prompt string) (string, error)
}

// errLineCanceled is returned by a LineReader on Ctrl-C. The line is discarded and the session
// continues.
var errLineCanceled = errors.New("line cancelled")

// Lines returns a LineReader for a pipe or a file. It displays no prompt.
func Lines(r io.Reader) LineReader { return EchoLines(r, io.Discard) }

// EchoLines is like Lines, but also writes the prompt and each line to out, so that a piped session
// reads like a session on a terminal.
func EchoLines(r io.Reader, out io.Writer) LineReader { return &lines{bufio.NewReader(r), out} }

type lines struct {
	r   *bufio.Reader
	out io.Writer
}

func (l *lines) ReadLine(prompt string) (string, error) {
	line, err := l.r.ReadString('\n')
	if err != nil && (err != io.EOF || line == "") {
		return line, err
	}
	line = strings.TrimRight(line, "\r\n")
	parts := strings.Split(line, "\t") // a tab requests completions
	for i, part := range parts {
		parts[i] = printable(part)
	}
	_, err = fmt.Fprintf(l.out, "%s%s\n", prompt, strings.Join(parts, "\t"))
	return line, err
}
