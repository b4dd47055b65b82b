package check

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// How it works. With --pipe, celadon check reads requests from standard input, one per line. It
// writes one line in response to each, in order, before it reads the next. The client is untrusted:
// the length of a line is limited, and an invalid request is reported as such.

// pipeFlags are the flags that have a meaning with --pipe, or an error of their own.
var pipeFlags = []string{
	"pipe", "crd", "exclude", "kube-version", "validate", "convert", "convert-ca", "policy", "as", "as-group", "as-user-extra", "operation",
	"sources", "run", "findings-exit-code", "cluster", "context", "namespace", "selector", "config", "no-config", command.FollowFlag,
}

// flagWithoutMeaning returns a flag that was given but has no meaning with --pipe, or "".
func (o *Options) flagWithoutMeaning(paths []string) (name string) {
	if len(paths) > 0 {
		return "OBJECTS"
	}
	o.flags.VisitAll(func(f *pflag.Flag) {
		if name == "" && f.Value.String() != f.DefValue && !slices.Contains(pipeFlags, f.Name) {
			name = "--" + f.Name
		}
	})
	return name
}

// maxRequest limits the bytes of a request. It allows more than two objects that a server would
// accept.
const maxRequest = 8 << 20

// A request is a line of standard input.
type request struct {
	Object      json.RawMessage `json:"object"`
	Old         json.RawMessage `json:"old"`
	Subresource string          `json:"subresource"`
}

// pipe handles requests from standard input until there are no more.
func (r *runner) pipe(ctx context.Context, o *Options) error {
	cfg, err := o.engine()
	if err != nil {
		return err
	}
	crds, err := r.readCRDs(ctx, o, o.CRDs, verdict.Use{}, cfg)
	if err != nil {
		return err
	}
	if problems := crds.Found(); len(problems) > 0 {
		for _, problem := range problems {
			r.Complain(problem)
		}
		return &command.ExitError{Code: command.Usage}
	}
	d := verdict.New(o.decides(0), crds)
	requests, out := readRequests(ctx, r.Stdin), print.Encoder(untrusted.NewWriter(r.Stdout))
	for {
		select {
		case <-ctx.Done(): // a read may be blocked
			return ctx.Err()
		case one, more := <-requests:
			if !more {
				return nil
			}
			if one.err != nil {
				return fmt.Errorf("cannot read the requests: %w", one.err)
			}
			if err := out.Encode(answer(ctx, d, one.text)); err != nil {
				return &command.ExitError{Code: command.Usage, Err: fmt.Errorf("cannot write the answer: %w", r.unwrapWrite(err))}
			}
		}
	}
}

// A line is the result of reading a line. Text is nil if the line is too long.
type line struct {
	text []byte
	err  error
}

// readRequests reads requests, one ahead of the receiver.
func readRequests(ctx context.Context, stdin io.Reader) <-chan line {
	out := make(chan line)
	go func() {
		defer close(out)
		r := bufio.NewReader(stdin)
		for end := false; !end; {
			var l line
			if l.text, l.err = readRequest(r); errors.Is(l.err, io.EOF) {
				if l.text != nil && len(l.text) == 0 {
					return
				}
				l.err, end = nil, true
			}
			select {
			case out <- l:
			case <-ctx.Done():
				return
			}
			end = end || l.err != nil
		}
	}()
	return out
}

// readRequest reads a line. If the line is too long, it returns nil text.
func readRequest(r *bufio.Reader) (text []byte, err error) {
	text = []byte{}
	for {
		part, err := r.ReadSlice('\n')
		if text != nil && len(text)+len(part) <= maxRequest {
			text = append(text, part...)
		} else {
			text = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
}

func answer(ctx context.Context, d *verdict.Decider, text []byte) *verdict.Reply {
	if text == nil {
		return verdict.Unanswered(finding.Unreadable, fmt.Errorf("the request is too large (want at most %d MiB)", maxRequest>>20))
	}
	req, err := decodeRequest(text)
	if err != nil {
		return verdict.Unanswered(finding.Unreadable, err)
	}
	return d.Reply(ctx, req)
}

// decodeRequest decodes a line. It keeps the raw object, including duplicate keys.
func decodeRequest(text []byte) (*engine.Request, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var r request
	if err := dec.Decode(&r); err != nil {
		return nil, fmt.Errorf("not a request: %w (want {\"object\": {…}, \"old\": {…}, \"subresource\": \"\"} on one line)", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("unexpected data after the request: want one JSON object per line")
	}
	if len(r.Object) == 0 {
		return nil, errors.New("object: missing from the request")
	}
	req := &engine.Request{Raw: r.Object, Subresource: r.Subresource}
	switch r.Subresource {
	case "", "status":
	default:
		return nil, fmt.Errorf("subresource: %q: want \"\" or status", r.Subresource)
	}
	if len(r.Old) > 0 && !bytes.Equal(r.Old, []byte("null")) {
		var err error
		if req.OldObject, err = engine.Decode(r.Old); err != nil {
			return nil, fmt.Errorf("old: %w", err)
		}
	} else if r.Subresource != "" {
		return nil, errors.New("old: missing from a request for a subresource")
	}
	return req, nil
}
