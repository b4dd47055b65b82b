package lsp

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

const (
	// A round starts when no document has changed for quiet, but no later than longest after the
	// first change.
	quiet   = 30 * time.Millisecond
	longest = time.Second
)

type schedule struct {
	mu    sync.Mutex
	dirty map[string]bool // URIs
	files map[string]bool // paths of files that may have changed on disk
	since time.Time       // of the first change since the last round
	timer *time.Timer
}

func newSchedule() *schedule {
	r := &schedule{dirty: map[string]bool{}, files: map[string]bool{}, timer: time.NewTimer(longest)}
	r.timer.Stop()
	return r
}

func (r *schedule) mark(uris ...string) { r.add(r.dirty, uris) }

func (r *schedule) reread(paths ...string) { r.add(r.files, paths) }

func (r *schedule) add(to map[string]bool, names []string) {
	if len(names) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.dirty)+len(r.files) == 0 {
		r.since = time.Now()
	}
	for _, name := range names {
		to[name] = true
	}
	r.timer.Reset(min(quiet, longest-time.Since(r.since)))
}

func (r *schedule) take() (uris, files []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	uris, files = slices.Sorted(maps.Keys(r.dirty)), slices.Sorted(maps.Keys(r.files))
	clear(r.dirty)
	clear(r.files)
	return uris, files
}

func (s *server) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.rounds.timer.C:
			s.round(ctx)
		}
	}
}

func (s *server) round(ctx context.Context) {
	uris, files := s.rounds.take()
	changed := map[schema.GroupKind]bool{}
	for _, path := range files {
		if ctx.Err() == nil && s.opened(path) == nil {
			s.readFile(path, changed)
		}
	}
	for len(uris) > 0 && ctx.Err() == nil {
		for _, uri := range uris {
			s.analyzeDocument(ctx, uri, changed)
		}
		uris = s.dependents(changed)
		clear(changed)
	}
}

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
	defer s.mu.Unlock()
	if s.client != nil && s.client.Capabilities.Workspace.InlayHint.RefreshSupport {
		go s.conn.Call(s.ctx, "workspace/inlayHint/refresh", nil, nil)
	}
}

// publish returns nil, and publishes nothing, if the document has changed or was closed meanwhile, or is lost.
func (s *server) publish(ctx context.Context, cancel context.CancelFunc, uri string, changed map[schema.GroupKind]bool) *analysis {
	s.mu.Lock()
	d := s.docs[uri]
	if d == nil || d.lost {
		s.mu.Unlock()
		return nil
	}
	d.cancel = cancel
	v := &view{server: s, document: *d}
	s.mu.Unlock()

	a := &analysis{text: v.text, diagnostics: []protocol.Diagnostic{}}
	s.guard(v.name, func() { a = v.analyze(ctx, changed) })

	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil || s.docs[uri] != d || d.text != v.text {
		return nil // it has changed and will be analyzed again
	}
	if a.omitted > 0 {
		more := "and " + phrase.Count(a.omitted, "more finding")
		a.diagnostics = append(a.diagnostics, protocol.Diagnostic{Severity: protocol.Error, Source: source, Message: more})
	}
	d.known = a
	s.wakeWaiting()
	if a.by != s.crds.changed.Load() {
		s.rounds.mark(uri) // CRDs were found meanwhile, perhaps for its objects
	}
	s.sendDiagnostics(uri, v.version, a.diagnostics)
	return a
}

func (s *server) dependents(kinds map[schema.GroupKind]bool) (uris []string) {
	if len(kinds) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for uri, d := range s.docs {
		if d.known != nil && slices.ContainsFunc(d.known.parts, func(p *part) bool {
			return p.documentType == object && kinds[p.kind] || p.documentType == suite || p.documentType == admission
		}) || d.known != nil && d.known.golang != nil {
			uris = append(uris, uri)
		}
	}
	slices.Sort(uris)
	return uris
}
