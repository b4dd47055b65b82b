package jsonrpc

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
)

// maxBody is far larger than any document that an editor opens.
const maxBody = 64 << 20

// A codec reads and writes messages with a Content-Length header. Unlike VSCodeObjectCodec, it limits them.
type codec struct {
	jsonrpc2.VSCodeObjectCodec
	conn *Conn
}

// ReadObject reads a message. At the end of the stream, it waits for running requests, because the library drops their
// responses when it returns.
func (c codec) ReadObject(r *bufio.Reader, v any) error {
	<-c.conn.begun
	err := readObject(r, v)
	if errors.Is(err, io.EOF) {
		c.conn.finish()
	} else if err != nil {
		c.conn.invalid.Store(&err)
	}
	return err
}

// readObject returns io.EOF if the stream ends between messages.
func readObject(r *bufio.Reader, v any) error {
	length, err := readHeader(r)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(length))) // grows with the data, not with the announced length
	if err == nil && len(data) < length {
		err = fmt.Errorf("a message of %d bytes ends after %d", length, len(data))
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// readHeader reads a header and returns its Content-Length. A line is at most as long as the buffer of r.
func readHeader(r *bufio.Reader) (length int, err error) {
	length = -1
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF) && (!first || len(line) > 0):
			return 0, errors.New("a header ends early")
		case errors.Is(err, bufio.ErrBufferFull):
			return 0, fmt.Errorf("a header line of more than %d bytes", r.Size())
		case err != nil:
			return 0, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" && length < 0 {
			return 0, errors.New("a header without Content-Length")
		}
		if text == "" {
			return length, nil
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return 0, fmt.Errorf("%q: want a header line", text)
		}
		if !strings.EqualFold(name, "Content-Length") {
			continue
		}
		length, err = strconv.Atoi(strings.TrimSpace(value))
		if err != nil || length < 0 || length > maxBody {
			return 0, fmt.Errorf("Content-Length %q: want at most %d", strings.TrimSpace(value), maxBody)
		}
	}
}
