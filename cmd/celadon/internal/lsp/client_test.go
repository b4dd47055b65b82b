package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/jsonrpc"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
)

// hangs is how long a test waits before it fails. It is long because the machine may be busy.
const hangs = 5 * time.Minute

type client struct {
	t    testing.TB
	conn *jsonrpc.Conn
	dir  string
	in   io.Closer
	done chan error

	mu        sync.Mutex
	published []protocol.PublishDiagnostics // all, in order
	news      chan struct{}
	versions  map[string]int32
}

func start(t testing.TB, options any, files map[string]string) *client {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return serve(t, options, dir)
}

func serve(t testing.TB, options any, dir string) *client {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	c := &client{t: t, dir: dir, in: toServer, done: make(chan error, 1), news: make(chan struct{}, 1), versions: map[string]int32{}}
	go func() {
		err := Run(context.Background(), command.Streams{Stdin: in, Stdout: out, Stderr: io.Discard}, &Options{})
		out.Close()
		c.done <- err
	}()
	c.conn = jsonrpc.New(fromServer, toServer, jsonrpc.Handler{Notified: c.notified, HandleRequest: func(string, json.RawMessage) func(context.Context) (any, error) {
		return func(context.Context) (any, error) { return nil, nil }
	}})
	go c.conn.Run()
	c.ask("initialize", map[string]any{"processId": os.Getpid(), "rootUri": fileURI(dir), "initializationOptions": options, "capabilities": map[string]any{}}, nil)
	c.tell("initialized", struct{}{})
	t.Cleanup(func() {
		toServer.Close()
		select {
		case <-c.done:
		case <-time.After(hangs):
			t.Error("the server does not end with its input")
		}
	})
	return c
}

func fileURI(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

func (c *client) uri(name string) string { return fileURI(filepath.Join(c.dir, name)) }

func (c *client) notified(method string, params json.RawMessage) {
	if method == "window/logMessage" {
		c.t.Logf("%s", params)
	}
	if method != "textDocument/publishDiagnostics" {
		return
	}
	var p protocol.PublishDiagnostics
	if err := json.Unmarshal(params, &p); err != nil {
		c.t.Error(err)
	}
	c.mu.Lock()
	c.published = append(c.published, p)
	c.mu.Unlock()
	select {
	case c.news <- struct{}{}:
	default:
	}
}

func (c *client) ask(method string, params, result any) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	if err := c.conn.Call(ctx, method, params, result); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

func (c *client) tell(method string, params any) {
	c.t.Helper()
	if err := c.conn.Notify(method, params); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

func (c *client) open(name, text string) []protocol.Diagnostic {
	c.t.Helper()
	c.versions[name] = 1
	seen := c.seen()
	c.tell("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": c.uri(name), "languageId": "yaml", "version": 1, "text": text}})
	return c.next(name, seen)
}

func (c *client) change(name string, changes ...protocol.Change) []protocol.Diagnostic {
	c.t.Helper()
	seen := c.seen()
	c.send(name, changes...)
	return c.next(name, seen)
}

func (c *client) send(name string, changes ...protocol.Change) {
	c.t.Helper()
	c.versions[name]++
	version := c.versions[name]
	c.tell("textDocument/didChange", protocol.Params{TextDocument: protocol.TextDocument{URI: c.uri(name), Version: &version}, ContentChanges: changes})
}

func (c *client) seen() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.published)
}

func (c *client) next(name string, seen int) []protocol.Diagnostic {
	c.t.Helper()
	late := time.After(hangs)
	for {
		c.mu.Lock()
		for _, p := range c.published[seen:] {
			if p.URI == c.uri(name) && p.Version != nil && *p.Version == c.versions[name] {
				c.mu.Unlock()
				return p.Diagnostics
			}
		}
		c.mu.Unlock()
		select {
		case <-c.news:
		case <-late:
			c.t.Fatalf("%s: no diagnostics come", name)
		}
	}
}

// until waits for n diagnostics, because the walk for CRDs may still be running.
func (c *client) until(name string, got []protocol.Diagnostic, n int) []protocol.Diagnostic {
	c.t.Helper()
	late := time.After(hangs)
	for len(got) != n {
		select {
		case <-c.news:
		case <-time.After(100 * time.Millisecond): // the signal may have been received before
		case <-late:
			c.t.Fatalf("%s: %d diagnostics, want %d: %v", name, len(got), n, messages(got))
		}
		got = c.latest(name)
	}
	return got
}

func (c *client) latest(name string) []protocol.Diagnostic {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range slices.Backward(c.published) {
		if p.URI == c.uri(name) {
			return p.Diagnostics
		}
	}
	return nil
}

func (c *client) at(name string, line, character int) protocol.Params {
	return protocol.Params{TextDocument: protocol.TextDocument{URI: c.uri(name)}, Position: protocol.Position{Line: uint32(line), Character: uint32(character)}}
}

func find(t testing.TB, text, what string, after bool) protocol.Position {
	t.Helper()
	i := bytes.Index([]byte(text), []byte(what))
	if i < 0 {
		t.Fatalf("%q: not found", what)
	}
	if after {
		i += len(what)
	}
	return newText(text).position(i)
}
