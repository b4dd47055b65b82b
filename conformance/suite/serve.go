package suite

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrUnsupported is the error of an implementation for a write that it does not validate.
var ErrUnsupported = errors.New("unsupported")

// Serve is the main loop of an implementation in Go. It reads requests from in until its end, and writes the
// responses of write to out. If write returns ErrUnsupported, the write is reported as such; any other error ends the
// loop.
func Serve(in io.Reader, out io.Writer, hello Answer, write func(*Request) (*Response, error)) error {
	dec, enc := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out)
	for {
		req := &Request{}
		if err := dec.Decode(req); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		a := hello
		if req.Type == "write" {
			response, err := write(req)
			switch {
			case errors.Is(err, ErrUnsupported):
				a = Answer{Unsupported: err.Error()}
			case err != nil:
				return fmt.Errorf("%s: %w", req.ID, err)
			default:
				a = Answer{Response: *response}
			}
		}
		a.ID = req.ID
		if err := enc.Encode(a); err != nil {
			return err
		}
	}
}
