package lsp

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/jsonrpc"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
)

// Requests read the analyses of documents, which the server makes in rounds. A request that arrives
// earlier, for example directly after a file is opened, waits for the analysis that it needs.

// maxWait limits the time that a request waits for an analysis. Editors have no timeout of their
// own, and the number of concurrent requests is limited.
const maxWait = 10 * time.Second

var (
	errChanged = &jsonrpc.Error{Code: contentModified, Message: "the document has changed or was closed"}
	errEnded   = &jsonrpc.Error{Code: serverCanceled, Message: "the server is shut down"}
	errLate    = &jsonrpc.Error{Code: serverCanceled, Message: "the document is still being analyzed: try again"}
)

// wait waits until ready returns true for the document of the request. It returns errChanged if the
// document changes or is closed, errEnded after the request shutdown, errLate after s.maxWait, and the error of ctx if that
// is done. In all cases, v.known is the latest analysis. Ready is called with s.docs.mu held.
func (v *view) wait(ctx context.Context, ready func(*document) bool) error {
	late := time.NewTimer(v.maxWait)
	defer late.Stop()
	for {
		v.docs.mu.Lock()
		d, news := v.docs.all[v.uri], v.docs.news
		if d == nil || d.text != v.text || d.lost {
			v.docs.mu.Unlock()
			return errChanged
		}
		if v.docs.ended {
			v.docs.mu.Unlock()
			return errEnded
		}
		v.known = d.known
		done := ready(d)
		v.docs.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-news:
		case <-late.C:
			return errLate
		case <-ctx.Done():
			return ctx.Err()
		case <-v.ctx.Done():
			return errChanged
		}
	}
}

// analyzed reports whether the current text of d has been analyzed.
func analyzed(d *document) bool { return d.known != nil && d.known.text == d.text }

// usable reports whether requests about positions in d can be served: some text of d has been
// analyzed, and for each object in it, either the CRD is known or no further CRD can be found.
func (s *server) usable(d *document) bool {
	if d.known == nil {
		return false
	}
	live := s.crds.live()
	unknown := func(p *part) bool {
		return p.documentType == object && p.kind != (schema.GroupKind{}) && !live.Knows(p.kind)
	}
	return s.allAnalyzed(d) || !slices.ContainsFunc(d.known.parts, unknown)
}

// allAnalyzed reports whether all open documents have been analyzed and all searches for CRDs have
// ended.
func (s *server) allAnalyzed(*document) bool {
	for _, d := range s.docs.all {
		if d.known == nil && !d.lost {
			return false
		}
	}
	return s.docs.searches == 0
}

// startSearch searches folders for CRDs in the background. Requests that depend on all CRDs wait
// until it ends.
func (s *server) startSearch(folders []string) {
	s.docs.mu.Lock()
	s.docs.searches++
	s.docs.mu.Unlock()
	go func() {
		defer func() {
			s.docs.mu.Lock()
			s.docs.searches--
			s.docs.wakeWaiting()
			s.docs.mu.Unlock()
		}()
		s.findCRDs(s.ctx, folders)
	}()
}

// at returns a request about a position in an open document. The result is null for other documents.
// If the analysis takes longer than maxWait, the request is served with the CRDs that are known by
// then.
func at[R any](do func(*view, context.Context, int) R) request {
	return answer(func(s *server, p protocol.At) func(context.Context) (any, error) {
		v := s.view(p.TextDocument.URI)
		return func(ctx context.Context) (any, error) {
			if v == nil {
				return nil, nil
			}
			if err := v.wait(ctx, s.usable); err != nil && err != errLate {
				return nil, err
			}
			return do(v, ctx, v.text.offset(p.Position)), ctx.Err()
		}
	})
}

// of returns a request about a whole open document. It waits for the analysis of the current text.
func of[R any](do func(*view, context.Context) R) request {
	return answer(func(s *server, p protocol.Of) func(context.Context) (any, error) {
		v := s.view(p.TextDocument.URI)
		return func(ctx context.Context) (any, error) {
			if v == nil {
				return nil, nil
			}
			if err := v.wait(ctx, analyzed); err != nil {
				return nil, err
			}
			return do(v, ctx), ctx.Err()
		}
	})
}
