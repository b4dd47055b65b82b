package lsp

import (
	"context"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
)

const (
	// maxOpen limits the open documents.
	maxOpen = 10_000
)

// A document is open in the editor.
type document struct {
	uri, language string
	// name is the file's path, or the URI if it is not a file.
	name    string
	version int32
	text    *text
	// known is the result of the last round, perhaps of an older text.
	known *analysis
	// trees holds the trees of text and its predecessors.
	trees *editor.Trees
	// cancel, if not nil, cancels the current analysis.
	cancel context.CancelFunc
	// lost is set if a change could not be applied, so that text differs from the editor's. It is
	// reset by the next complete text.
	lost bool
}

// A view is a document at the time of a request.
type view struct {
	*server
	uri, name, language string
	text                *text
	known               *analysis
	trees               *editor.Trees
}

// documents holds the open documents.
type documents struct {
	mu  sync.Mutex
	all map[string]*document
	// news is closed and replaced when a document changes or was analyzed, and when a search for CRDs ends.
	news chan struct{}
	// searches counts the running searches for CRDs in workspace folders.
	searches int
	// ended is set by the request shutdown, which ends waiting requests.
	ended bool
}

// wakeWaiting wakes all waiting requests. The caller must hold mu.
func (d *documents) wakeWaiting() {
	close(d.news)
	d.news = make(chan struct{})
}

// view returns a view of a document, or nil if it is not open.
func (s *server) view(uri string) *view {
	s.docs.mu.Lock()
	defer s.docs.mu.Unlock()
	d := s.docs.all[uri]
	if d == nil {
		return nil
	}
	return &view{server: s, uri: d.uri, name: d.name, language: d.language, text: d.text, known: d.known, trees: d.trees}
}

func (s *server) didOpen(p protocol.DidOpen) {
	s.docs.mu.Lock()
	defer s.docs.mu.Unlock()
	doc := p.TextDocument
	if len(s.docs.all) >= maxOpen {
		return
	}
	d := &document{uri: doc.URI, language: doc.LanguageID, version: doc.Version, text: newText(doc.Text), trees: &editor.Trees{}}
	d.name = pathOf(doc.URI)
	s.docs.all[doc.URI] = d
	s.docs.wakeWaiting()
	s.rounds.mark(doc.URI)
}

// didChange applies changes in order.
func (s *server) didChange(p protocol.DidChange) {
	s.docs.mu.Lock()
	defer s.docs.mu.Unlock()
	d := s.docs.all[p.TextDocument.URI]
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
			_ = s.conn.Notify("textDocument/publishDiagnostics", protocol.PublishDiagnostics{URI: d.uri, Diagnostics: []protocol.Diagnostic{}})
		}
		d.lost = err != nil
	}
	s.docs.wakeWaiting()
	if p.TextDocument.Version != nil {
		d.version = *p.TextDocument.Version
	}
	if d.cancel != nil {
		d.cancel()
	}
	s.rounds.mark(d.uri)
	if strings.HasSuffix(d.name, ".go") {
		for uri, other := range s.docs.all { // a change can affect the other files of the package
			if other.known != nil && other.known.golang != nil {
				s.rounds.mark(uri)
			}
		}
	}
}

func (s *server) didClose(p protocol.DidClose) {
	s.docs.mu.Lock()
	defer s.docs.mu.Unlock()
	d := s.docs.all[p.TextDocument.URI]
	if d == nil {
		return
	}
	if d.cancel != nil {
		d.cancel()
	}
	delete(s.docs.all, d.uri)
	s.docs.wakeWaiting()
	_ = s.conn.Notify("textDocument/publishDiagnostics", protocol.PublishDiagnostics{URI: d.uri, Diagnostics: []protocol.Diagnostic{}})
	s.rounds.reread(d.name)
}

// pathOf returns the path of a file URI, or else the URI.
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

// uriOf returns the URI of a path. For an open file, it is the editor's URI.
func (s *server) uriOf(path string) string {
	if !filepath.IsAbs(path) {
		return path // a name that is not a path is a URI
	}
	s.docs.mu.Lock()
	defer s.docs.mu.Unlock()
	for uri, d := range s.docs.all {
		if d.name == path {
			return uri
		}
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
