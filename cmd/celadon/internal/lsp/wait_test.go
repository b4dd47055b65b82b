package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/jsonrpc"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
)

func (c *client) openOnly(name, text string) {
	c.t.Helper()
	c.tell("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": c.uri(name), "languageId": "yaml", "version": 1, "text": text}})
}

func TestFirstRequest(t *testing.T) {
	t.Parallel()
	crd := example(t, "crontab/crd.yaml")
	rule := find(t, crd, "self.replicas <= self.max", true)
	field := find(t, cronTab, "replicas", true)
	for _, test := range []struct {
		method, name, text string
		at                 protocol.Position
	}{
		{"hover", "crd.yaml", crd, rule},
		{"completion", "crd.yaml", crd, rule},
		{"definition", "crd.yaml", crd, rule},
		{"inlayHint", "crd.yaml", crd, rule},
		{"hover", "a.yaml", cronTab, field},
		{"completion", "a.yaml", cronTab, field},
		{"definition", "a.yaml", cronTab, field},
	} {
		t.Run(test.method+" in "+test.name, func(t *testing.T) {
			t.Parallel()
			ask := func(c *client) string {
				var result json.RawMessage
				c.ask("textDocument/"+test.method, map[string]any{"textDocument": map[string]any{"uri": c.uri(test.name)}, "position": test.at}, &result)
				return strings.ReplaceAll(string(result), fileURI(c.dir), "")
			}
			c := start(t, nil, map[string]string{"crds/crontab.yaml": crd})
			c.openOnly(test.name, test.text)
			first := ask(c)
			if second := ask(c); first == "null" || first == "[]" || first != second {
				t.Errorf("first %s\nthen  %s", first, second)
			}
		})
	}
}

func TestFirstRequestOfOpenCRD(t *testing.T) {
	t.Parallel()
	c := start(t, nil, nil)
	c.openOnly("a.yaml", cronTab)
	c.openOnly("crd.yaml", example(t, "crontab/crd.yaml"))
	var hover *protocol.Hover
	at := find(t, cronTab, "replicas", true)
	c.ask("textDocument/hover", c.at("a.yaml", int(at.Line), int(at.Character)), &hover)
	if hover == nil || !strings.Contains(hover.Contents.Value, "spec.replicas: integer") {
		t.Errorf("got %+v", hover)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	const long = time.Minute
	crd := example(t, "crontab/crd.yaml")
	for _, test := range []struct {
		name    string
		maxWait time.Duration
		then    func(*server, context.CancelFunc)
		want    error
		result  bool // the result of a request about a position is null instead of an error
	}{
		{"the bound", time.Millisecond, func(*server, context.CancelFunc) {}, errLate, true},
		{"cancel", long, func(_ *server, cancel context.CancelFunc) { cancel() }, context.Canceled, false},
		{"shutdown", long, func(s *server, _ context.CancelFunc) { s.shutdown(struct{}{}) }, errEnded, false},
		{"close", long, func(s *server, _ context.CancelFunc) {
			s.didClose(protocol.Params{TextDocument: protocol.TextDocument{URI: "file:///crd.yaml"}})
		}, errChanged, false},
		{"change", long, func(s *server, _ context.CancelFunc) {
			s.didChange(protocol.Params{TextDocument: protocol.TextDocument{URI: "file:///crd.yaml"}, ContentChanges: []protocol.Change{{Text: "a: 1\n"}}})
		}, errChanged, false},
	} {
		for _, method := range []string{"hover", "completion", "signatureHelp", "definition", "inlayHint", "codeAction"} {
			t.Run(test.name+" "+method, func(t *testing.T) {
				t.Parallel()
				s := newServer(&Options{}, io.Discard)
				s.conn = jsonrpc.New(strings.NewReader(""), io.Discard, jsonrpc.Handler{})
				var cancel context.CancelFunc
				s.ctx, cancel = context.WithCancel(t.Context())
				defer cancel()
				s.maxWait = test.maxWait
				if _, _, err := s.configure(s.ctx, nil); err != nil {
					t.Fatal(err)
				}
				var opened protocol.Params
				opened.TextDocument.URI, opened.TextDocument.Text = "file:///crd.yaml", crd
				s.didOpen(opened)
				params, _ := json.Marshal(map[string]any{"textDocument": map[string]any{"uri": "file:///crd.yaml"}, "position": map[string]any{}, "range": map[string]any{}})
				do := requests["textDocument/"+method](s, params)
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				time.AfterFunc(5*time.Millisecond, func() { test.then(s, stop) })
				_, err := do(ctx)
				want := test.want
				if positional := method != "inlayHint"; positional && test.result {
					want = nil
				}
				if !errors.Is(err, want) {
					t.Errorf("got %v, want %v", err, want)
				}
			})
		}
	}
}
