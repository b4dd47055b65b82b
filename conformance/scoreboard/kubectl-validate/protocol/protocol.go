// Package protocol implements the conformance suite's protocol (docs/project/conformance-suite.md) without the modules
// of Celadon, whose Kubernetes libraries other programs may not build with.
package protocol

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// ErrUnsupported is the error for a write that an implementation does not validate.
var ErrUnsupported = errors.New("unsupported")

// A Request is a write.
type Request struct {
	ID, Type, Version, Subresource, FieldValidation string
	CRD, Object, OldObject                          json.RawMessage
}

// An Answer is the response to a request. Name, Levels, and Minors are set in the first response.
type Answer struct {
	ID          string   `json:"id"`
	Name        string   `json:"name,omitempty"`
	Levels      []string `json:"levels,omitempty"`
	Minors      []string `json:"minors,omitempty"`
	Unsupported string   `json:"unsupported,omitempty"`
	Allowed     bool     `json:"allowed"`
	Code        int      `json:"code"`
	Message     string   `json:"message,omitempty"`
	Causes      []Cause  `json:"causes,omitempty"`
}

// A Cause is an entry of status.details.causes.
type Cause struct {
	Reason  string `json:"reason"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Serve answers the requests on standard input. decide gets a temporary folder. If it returns an error, the program
// exits, unless the error is ErrUnsupported.
func Serve(hello Answer, decide func(dir string, req *Request) (*Answer, error)) {
	if err := serve(hello, decide); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(hello Answer, decide func(dir string, req *Request) (*Answer, error)) error {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	enc := json.NewEncoder(os.Stdout)
	for dec := json.NewDecoder(bufio.NewReader(os.Stdin)); dec.More(); {
		req := &Request{}
		if err := dec.Decode(req); err != nil {
			return err
		}
		a := &hello
		if req.Type == "write" {
			if a, err = decide(dir, req); errors.Is(err, ErrUnsupported) {
				a = &Answer{Unsupported: err.Error()}
			} else if err != nil {
				return fmt.Errorf("%s: %w", req.ID, err)
			}
		}
		a.ID = req.ID
		if err := enc.Encode(a); err != nil {
			return err
		}
	}
	return nil
}
