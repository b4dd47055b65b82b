package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"k8s.io/apiserver/pkg/cel/environment"
)

func main() {
	if err := run(&service{}, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A request is one line of the input. See the package comment.
type request struct {
	ID          json.RawMessage `json:"id"`
	Info        bool            `json:"info"`
	CRD         json.RawMessage `json:"crd"`
	OldCRD      json.RawMessage `json:"oldCRD"`
	Stored      bool            `json:"stored"`
	Version     string          `json:"version"`
	Object      json.RawMessage `json:"object"`
	Old         json.RawMessage `json:"old"`
	Subresource string          `json:"subresource"`
	Schema      json.RawMessage `json:"schema"`
	Rules       json.RawMessage `json:"rules"`
	Resource    bool            `json:"resource"`
}

type service struct {
	// last is the resource of the last write, and lastKey its CRD and version.
	last    *servedResource
	lastKey string
}

func run(s *service, in io.Reader, out io.Writer) error {
	dec, w := json.NewDecoder(bufio.NewReaderSize(in, 1<<20)), bufio.NewWriter(out)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for {
		var req request
		if err := dec.Decode(&req); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		if err := enc.Encode(s.answer(&req)); err != nil {
			return err
		}
		if err := w.Flush(); err != nil { // the caller can wait for each response
			return err
		}
	}
}

// An answer is one line of the output. See the package comment.
type answer struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Error  string          `json:"error,omitempty"`
	Panic  string          `json:"panic,omitempty"`
	CRD    *crdAnswer      `json:"crd,omitempty"`
	Write  *writeAnswer    `json:"write,omitempty"`
	Schema *version        `json:"schema,omitempty"`
	Info   *info           `json:"info,omitempty"`
}

func (s *service) answer(req *request) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n%s", p, debug.Stack())
			a = answer{ID: req.ID, Panic: fmt.Sprint(p)}
		}
	}()
	a.ID = req.ID
	var err error
	switch {
	case req.Info:
		a.Info = s.info()
	case req.Schema != nil:
		a.Schema, err = s.expressions(req)
	case req.Object != nil:
		a.Write, err = s.write(req)
	case req.CRD != nil:
		a.CRD, err = s.crd(req)
	default:
		err = errors.New("want one of crd, object, schema, and info")
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

type info struct {
	Minor         string            `json:"minor"`
	Compatibility string            `json:"compatibility"`
	Modules       map[string]string `json:"modules"`
}

func (s *service) info() *info {
	i := &info{fmt.Sprintf("1.%d", minor()), environment.DefaultCompatibilityVersion().String(), map[string]string{}}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, m := range build.Deps {
			if m.Replace == nil {
				i.Modules[m.Path] = m.Version
			}
		}
	}
	return i
}
