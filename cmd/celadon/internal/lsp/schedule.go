package lsp

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
)

const (
	// A round starts when no document has changed for quiet, but no later than longest after the
	// first change.
	quiet   = 30 * time.Millisecond
	longest = time.Second
)

// A schedule determines which documents and files the next round analyzes, and when.
type schedule struct {
	mu    sync.Mutex
	dirty map[string]bool // URIs
	files map[string]bool // paths of files that may have changed on disk
	since time.Time       // of the first change since the last round
	last  time.Time
	wake  chan struct{}
}

func newSchedule() *schedule {
	return &schedule{dirty: map[string]bool{}, files: map[string]bool{}, wake: make(chan struct{}, 1)}
}

// mark schedules documents for analysis.
func (r *schedule) mark(uris ...string) { r.add(r.dirty, uris) }

// reread schedules files to be read again.
func (r *schedule) reread(paths ...string) { r.add(r.files, paths) }

func (r *schedule) add(to map[string]bool, names []string) {
	if len(names) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = time.Now()
	if len(r.dirty)+len(r.files) == 0 {
		r.since = r.last
	}
	for _, name := range names {
		to[name] = true
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// due returns the time until the next round. It returns false if there is nothing to do.
func (r *schedule) due() (time.Duration, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.dirty)+len(r.files) == 0 {
		return 0, false
	}
	now := time.Now()
	return max(0, min(quiet-now.Sub(r.last), longest-now.Sub(r.since))), true
}

// take returns the documents and files for a round, and removes them from the schedule.
func (r *schedule) take() (uris, files []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	uris, files = slices.Sorted(maps.Keys(r.dirty)), slices.Sorted(maps.Keys(r.files))
	clear(r.dirty)
	clear(r.files)
	return uris, files
}

// run makes rounds until ctx is done.
func (s *server) run(ctx context.Context) {
	for {
		wait, some := s.rounds.due()
		if some && wait == 0 {
			s.round(ctx)
			continue
		}
		var later <-chan time.Time
		if some {
			later = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.rounds.wake:
		case <-later:
		}
	}
}

// round reads changed files and analyzes changed documents. If CRDs change, it then analyzes the
// documents with objects of their kinds.
func (s *server) round(ctx context.Context) {
	uris, files := s.rounds.take()
	changed := map[schema.GroupKind]bool{}
	for _, path := range files {
		if ctx.Err() == nil && !s.isOpen(path) {
			s.readFile(path, changed)
		}
	}
	for len(uris) > 0 && ctx.Err() == nil {
		for _, uri := range uris {
			s.analyzeDocument(ctx, uri, changed)
		}
		uris = s.about(changed)
		clear(changed)
	}
}

// analyzeDocument analyzes a document, and prepares its CRDs for requests.
func (s *server) analyzeDocument(ctx context.Context, uri string, changed map[schema.GroupKind]bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := s.publish(ctx, cancel, uri, changed)
	if a != nil && slices.ContainsFunc(a.parts, func(p *part) bool { return p.crd != nil }) {
		s.refresh()
	}
	for i := 0; a != nil && i < len(a.parts) && ctx.Err() == nil; i++ {
		if c := a.parts[i].crd; c != nil {
			s.guard(uri, func() { c.compiled(); c.described() })
		}
	}
}

// refresh makes the editor request inlay hints again, because earlier responses may belong to an older text.
func (s *server) refresh() {
	s.mu.Lock()
	can := s.client.Capabilities.Workspace.InlayHint.RefreshSupport
	s.mu.Unlock()
	if can {
		go s.conn.Call(s.ctx, "workspace/inlayHint/refresh", nil, nil)
	}
}

// publish analyzes a document and publishes its diagnostics. It returns nil if the document changed
// or was closed meanwhile.
func (s *server) publish(ctx context.Context, cancel context.CancelFunc, uri string, changed map[schema.GroupKind]bool) *analysis {
	s.docs.mu.Lock()
	d := s.docs.all[uri]
	if d == nil || d.lost {
		s.docs.mu.Unlock()
		return nil
	}
	of, version := d.text, d.version
	d.cancel = cancel
	v := &view{server: s, uri: d.uri, name: d.name, language: d.language, text: of, known: d.known, trees: d.trees}
	s.docs.mu.Unlock()

	a := &analysis{text: of, diagnostics: []protocol.Diagnostic{}}
	s.guard(d.name, func() { a = v.analyze(ctx, changed) })

	s.docs.mu.Lock()
	defer s.docs.mu.Unlock()
	if ctx.Err() != nil || s.docs.all[uri] != d || d.text != of {
		return nil // it has changed and will be analyzed again
	}
	d.known = a
	s.docs.wakeWaiting()
	if a.by != s.crds.changes() {
		s.rounds.mark(uri) // CRDs were found meanwhile, perhaps for its objects
	}
	_ = s.conn.Notify("textDocument/publishDiagnostics", protocol.PublishDiagnostics{URI: uri, Version: &version, Diagnostics: a.diagnostics})
	return a
}

// about returns the open documents with objects of the given kinds, test suites, policies, or Go markers.
func (s *server) about(kinds map[schema.GroupKind]bool) (uris []string) {
	if len(kinds) == 0 {
		return nil
	}
	s.docs.mu.Lock()
	defer s.docs.mu.Unlock()
	for uri, d := range s.docs.all {
		if d.known != nil && slices.ContainsFunc(d.known.parts, func(p *part) bool {
			return p.documentType == object && kinds[p.kind] || p.documentType == suite || p.documentType == admission
		}) || d.known != nil && d.known.golang != nil {
			uris = append(uris, uri)
		}
	}
	slices.Sort(uris)
	return uris
}

func (s *server) isOpen(path string) bool {
	s.docs.mu.Lock()
	defer s.docs.mu.Unlock()
	for _, d := range s.docs.all {
		if d.name == path {
			return true
		}
	}
	return false
}
