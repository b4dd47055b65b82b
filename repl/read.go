package repl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
)

// maxReadDepth limits how deeply files can read other files. maxReadText limits the size of such a
// file, in bytes.
const (
	maxReadDepth = 8
	maxReadText  = 1 << 20
)

// read implements :read FILE.
func read(ctx context.Context, s *Session, arg string) (string, error) {
	if s.host.ReadText == nil {
		return "", errNoFiles
	}
	text, err := s.host.ReadText(arg)
	if err != nil {
		return "", err
	}
	s.scripts++
	defer func() { s.scripts-- }()
	return s.Read(ctx, arg, text, true)
}

// mayWrite returns an error if the line that is executed must not write a file: lines that :read runs may come from an
// untrusted author.
func (s *Session) mayWrite(file string) error {
	if s.scripts == 0 || s.host.MayWrite == nil {
		return nil
	}
	return s.host.MayWrite(file)
}

// Read executes the lines of a file and returns their replies. It stops at the first line that fails,
// with an error and the replies so far, and at :quit. name is the file name for messages. If echo is set, the reply has each line after its
// prompt. The lines are not added to the history.
func (s *Session) Read(ctx context.Context, name string, text []byte, echo bool) (string, error) {
	switch {
	case s.reading >= maxReadDepth:
		return "", fmt.Errorf("%s: read from %d files that read each other: remove a :read", name, maxReadDepth)
	case len(text) > maxReadText:
		return "", fmt.Errorf("%s: %d bytes: want at most %d", name, len(text), maxReadText)
	}
	s.reading++
	history, doing := s.history, s.doing
	defer func() {
		s.reading--
		s.history, s.doing, s.last, s.partial = history, doing, lastLine{}, ""
	}()
	var b strings.Builder
	prompt := s.Prompt()
	in := Lines(bytes.NewReader(text))
	for n := 1; ; n++ {
		line, err := in.ReadLine("")
		end := err != nil
		if end && s.partial == "" {
			return b.String(), nil
		}
		if echo && !end {
			b.WriteString(printable(prompt+line) + "\n")
		}
		var reply Reply
		if end {
			reply = s.End(ctx)
		} else {
			reply = s.Do(ctx, line)
		}
		b.WriteString(reply.Text)
		switch {
		case b.Len() > maxAnswer:
			return "", fmt.Errorf("%s:%d: the replies have over %d MiB", name, n, maxAnswer>>20)
		case reply.Quit || end && !reply.Failed:
			return b.String(), nil
		case ctx.Err() != nil:
			return "", ctx.Err()
		case reply.Failed:
			return b.String(), &stoppedError{b.String(), fmt.Sprintf("%s:%d: stopped at this line", name, n)}
		}
		prompt = s.Prompt()
	}
}

// A stoppedError reports the line of a file at which reading stopped. replies are the replies so far.
type stoppedError struct{ replies, text string }

func (e *stoppedError) Error() string { return e.text }

// repliesBefore returns the replies that precede an error of :read.
func repliesBefore(err error) string {
	var stopped *stoppedError
	if !errors.As(err, &stopped) {
		return ""
	}
	return stopped.replies
}
