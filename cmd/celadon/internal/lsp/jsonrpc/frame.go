package jsonrpc

import (
	"bufio"
	"errors"
	"io"

	"github.com/sourcegraph/jsonrpc2"
)

// A codec reads and writes messages with a Content-Length header.
type codec struct {
	jsonrpc2.VSCodeObjectCodec
	conn *Conn
}

// ReadObject reads a message. At the end of the stream, it waits for running requests, because the library drops their
// responses when it returns.
func (c codec) ReadObject(r *bufio.Reader, v any) error {
	<-c.conn.begun
	err := c.VSCodeObjectCodec.ReadObject(r, v)
	if errors.Is(err, io.EOF) {
		c.conn.finish()
	} else if err != nil {
		c.conn.invalid.Store(&err)
	}
	return err
}
