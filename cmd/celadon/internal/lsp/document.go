package lsp

import (
	"context"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
)

const maxOpen = 10_000

type document struct {
	uri, language string
	// name is the file's path, or the URI if it is not a file.
	name    string
	version *int32
	text    *text
	// known is the result of the last round, perhaps of an older text.
	known  *analysis
	trees  *editor.Trees
	cancel context.CancelFunc
	// lost is set if a change could not be applied, so that text differs from the editor's. It is
	// reset by the next complete text.
	lost bool
}

// A view is a document at the time of a request.
type view struct {
	*server
	document
}

// The caller must hold s.mu.
func (s *server) wakeWaiting() {
	close(s.news)
	s.news = make(chan struct{})
}

func (s *server) view(uri string) *view {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.docs[uri]
	if d == nil {
		return nil
	}
	return &view{server: s, document: *d}
}

func (s *server) opened(name string) *view {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.docs {
		if d.name == name {
			return &view{server: s, document: *d}
		}
	}
	return nil
}

func (s *server) didOpen(p protocol.Params) {
	s.mu.Lock()
	defer s.mu.Unlock()
	doc := p.TextDocument
	if len(s.docs) >= maxOpen {
		return
	}
	s.docs[doc.URI] = &document{
		uri: doc.URI, name: pathOf(doc.URI), language: doc.LanguageID, version: doc.Version, text: newText(doc.Text), trees: &editor.Trees{},
		cancel: func() {},
	}
	s.wakeWaiting()
	s.rounds.mark(doc.URI)
}

func (s *server) didChange(p protocol.Params) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.docs[p.TextDocument.URI]
	if d == nil {
		return
	}
	for _, c := range p.ContentChanges {
		if d.lost && c.Range != nil {
			continue
		}
		var err error
		if d.text, err = d.text.change(c); err != nil {
			s.log(protocol.Error, d.name+": a change cannot be applied: the file has no diagnostics until it is opened again: "+err.Error())
			s.sendDiagnostics(d.uri, nil, nil)
		}
		d.lost = err != nil
	}
	s.wakeWaiting()
	if p.TextDocument.Version != nil {
		d.version = p.TextDocument.Version
	}
	d.cancel()
	s.rounds.mark(d.uri)
	if d.isGo() {
		for uri, other := range s.docs { // a change can affect the other files of the package
			if other.known != nil && other.known.golang != nil {
				s.rounds.mark(uri)
			}
		}
	}
}

func (s *server) didClose(p protocol.Params) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.docs[p.TextDocument.URI]
	if d == nil {
		return
	}
	d.cancel()
	delete(s.docs, d.uri)
	s.wakeWaiting()
	s.sendDiagnostics(d.uri, nil, nil)
	s.rounds.reread(d.name)
}

func (s *server) sendDiagnostics(uri string, version *int32, list []protocol.Diagnostic) {
	p := protocol.PublishDiagnostics{URI: uri, Version: version, Diagnostics: append([]protocol.Diagnostic{}, list...)}
	_ = s.conn.Notify("textDocument/publishDiagnostics", p)
}

func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return uri
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.Clean(filepath.FromSlash(path))
}

// For an open file, uriOf returns the editor's URI.
func (s *server) uriOf(path string) string {
	if !filepath.IsAbs(path) {
		return path // a name that is not a path is a URI
	}
	if open := s.opened(path); open != nil {
		return open.uri
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
