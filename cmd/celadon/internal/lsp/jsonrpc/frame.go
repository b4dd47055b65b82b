package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"strings"
)

const (
	// maxBody is far larger than any document that an editor opens.
	maxBody = 64 << 20
	// maxHeader limits the length of a whole header.
	maxHeader = 4 << 10
)

// readFrame reads a message. It returns io.EOF if the stream ends between messages.
func readFrame(r *bufio.Reader) ([]byte, error) {
	length, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer // grows with the data, not with the announced length
	if _, err := io.CopyN(&body, r, int64(length)); err != nil {
		return nil, fmt.Errorf("a message of %d bytes ends after %d: %w", length, body.Len(), io.ErrUnexpectedEOF)
	}
	return body.Bytes(), nil
}

// readHeader reads a header and returns its Content-Length.
func readHeader(r *bufio.Reader) (length int, err error) {
	length = -1
	for read := 0; ; {
		line, err := readLine(r, maxHeader-read)
		read += len(line)
		switch {
		case errors.Is(err, io.EOF) && read == 0:
			return 0, io.EOF
		case err != nil:
			return 0, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" && length < 0 {
			return 0, errors.New("a header without Content-Length")
		}
		if line == "" {
			return length, nil
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return 0, fmt.Errorf("%q: want a header line", line)
		}
		if textproto.CanonicalMIMEHeaderKey(name) != "Content-Length" {
			continue
		}
		length, err = strconv.Atoi(strings.TrimSpace(value))
		if err != nil || length < 0 || length > maxBody {
			return 0, fmt.Errorf("Content-Length %q: want at most %d", strings.TrimSpace(value), maxBody)
		}
	}
}

func readLine(r *bufio.Reader, limit int) (string, error) {
	var line []byte
	for {
		c, err := r.ReadByte()
		if err != nil {
			if len(line) > 0 && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return string(line), err
		}
		if line = append(line, c); len(line) > limit {
			return string(line), fmt.Errorf("a header of more than %d bytes", maxHeader)
		}
		if c == '\n' {
			return string(line), nil
		}
	}
}

func frame(body []byte) []byte {
	return append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...)
}
