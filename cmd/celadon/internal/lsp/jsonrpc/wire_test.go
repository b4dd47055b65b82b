package jsonrpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

func echo() Handler {
	return Handler{
		Notified: func(method string, _ json.RawMessage) {
			if method == "panic" {
				panic("no")
			}
		},
		HandleRequest: func(method string, params json.RawMessage) func(context.Context) (any, error) {
			switch method {
			case "echo":
				return func(context.Context) (any, error) { return params, nil }
			case "wait":
				return func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() }
			case "panic":
				return func(context.Context) (any, error) { panic("no") }
			case "panic at once":
				panic("no")
			case "fail":
				return func(context.Context) (any, error) { return nil, errors.New("no") }
			}
			return nil
		},
	}
}

func frames(bodies ...string) string {
	var b strings.Builder
	for _, body := range bodies {
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	return b.String()
}

func replies(t *testing.T, out []byte) (all []string) {
	t.Helper()
	r := bufio.NewReader(bytes.NewReader(out))
	for {
		var body map[string]any // its keys are sorted in all
		err := (jsonrpc2.VSCodeObjectCodec{}).ReadObject(r, &body)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":[1]}}`:    `{"id":1,"jsonrpc":"2.0","result":{"a":[1]}}`,
		`{"jsonrpc":"2.0","id":"x","method":"echo"}`:                     `{"id":"x","jsonrpc":"2.0","result":null}`,
		`{"jsonrpc":"2.0","id":2,"method":"nosuch"}`:                     `{"error":{"code":-32601,"message":"\"nosuch\": no such method"},"id":2,"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","id":3,"method":"panic"}`:                      `{"error":{"code":-32603,"message":"internal error in celadon: no"},"id":3,"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","id":3,"method":"panic at once"}`:              `{"error":{"code":-32603,"message":"internal error in celadon: no"},"id":3,"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","id":4,"method":"fail"}`:                       `{"error":{"code":-32803,"message":"no"},"id":4,"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","method":"panic"}`:                             ``,
		`{"jsonrpc":"2.0","method":"nosuch","params":[]}`:                ``,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}`: ``,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":7}`:        ``,
		`{"jsonrpc":"2.0","id":77,"result":1}`:                           ``,
		`{"jsonrpc":"2.0","id":"no","result":1}`:                         ``,
	} {
		var out bytes.Buffer
		if err := New(strings.NewReader(frames(in)), &out, echo()).Run(); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if got := strings.Join(replies(t, out.Bytes()), " "); got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
	}
	for _, in := range []string{`[`, `[]`, `7`, `{"method":3}`, "", "{}"} {
		if err := New(strings.NewReader(frames(in)), io.Discard, echo()).Run(); err == nil {
			t.Errorf("%s: accepted", in)
		}
	}
}

func TestNotFramed(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"Content-Length: 2\r\n\r\n{", "Content-Length: -1\r\n\r\n{", "Content-Type: x\r\n\r\n{}", "GET / HTTP/1.1\r\n\r\n"} {
		if err := New(strings.NewReader(in), io.Discard, echo()).Run(); err == nil {
			t.Errorf("%.40q: no error", in)
		}
	}
}

func TestReadsOn(t *testing.T) {
	t.Parallel()
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	c := New(in, out, echo())
	ended := make(chan error, 1)
	go func() { ended <- c.Run() }()
	for i := range 100 { // the responses are not read yet
		fmt.Fprint(ask, frames(fmt.Sprintf(`{"id":%d,"method":"echo"}`, i), `{"method":"workspace/didChangeConfiguration"}`))
	}
	fmt.Fprint(ask, frames(`{"id":"w","method":"wait"}`, `{"id":"v","method":"wait"}`, `{"id":"w","method":"echo"}`, `{"method":"$/cancelRequest","params":{"id":"w"}}`))
	r := bufio.NewReader(answers)
	seen := map[string]int{}
	for range 102 {
		var m struct {
			ID    json.RawMessage
			Error Error
		}
		if err := (jsonrpc2.VSCodeObjectCodec{}).ReadObject(r, &m); err != nil {
			t.Fatal(err)
		}
		seen[fmt.Sprint(string(m.ID), " ", m.Error.Code)]++
	}
	if seen[`"w" -32800`] != 1 || seen[`"w" -32600`] != 1 {
		t.Errorf("%v", seen)
	}
	go io.Copy(io.Discard, answers)
	ask.Close() // v is still blocked
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Minute):
		t.Fatal("does not end with its input")
	}
}

func TestCall(t *testing.T) {
	t.Parallel()
	a, b := io.Pipe()
	x, y := io.Pipe()
	one, two := New(a, y, echo()), New(x, b, echo())
	go one.Run()
	go two.Run()
	var got []int
	if err := one.Call(context.Background(), "echo", []int{1, 2}, &got); err != nil || len(got) != 2 {
		t.Error(got, err)
	}
	var e *Error
	if err := two.Call(context.Background(), "fail", nil, nil); !errors.As(err, &e) || e.Code != RequestFailed {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := one.Call(ctx, "wait", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	one.Close()
	if err := one.Call(context.Background(), "wait", nil, nil); err == nil {
		t.Error("a request was sent to a client that has disconnected")
	}
}

func FuzzWire(f *testing.F) {
	f.Add([]byte(frames(`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":[1]}}`, `{"method":"panic"}`, `{"id":1,"result":{}}`)))
	f.Add([]byte(frames(`[{"id":1}]`, `{"id":{},"method":"echo"}`, `{"id":1,"method":"wait"}`, `{"method":"$/cancelRequest","params":{"id":1}}`)))
	f.Add([]byte("Content-Length: 7\r\ncontent-length: 2\r\n\r\n{}Content-Length: 1e3\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		_ = New(bytes.NewReader(in), &out, echo()).Run()
		replies(t, out.Bytes())
	})
}
