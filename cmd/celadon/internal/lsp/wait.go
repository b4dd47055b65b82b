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

// maxWait limits the time that a request waits for an analysis. Editors have no timeout of their own.
const maxWait = 10 * time.Second

var (
	errChanged = &jsonrpc.Error{Code: contentModified, Message: "the document has changed or was closed"}
	errEnded   = &jsonrpc.Error{Code: serverCanceled, Message: "the server is shut down"}
	errLate    = &jsonrpc.Error{Code: serverCanceled, Message: "the document is still being analyzed: try again"}
)

type need uint8

const (
	// isCurrent: the current text of the document has been analyzed.
	isCurrent need = 1 << iota
	// isUsable: some text of the document has been analyzed, and for each object in it, either the CRD is known or no
	// further CRD can be found.
	isUsable
)

// wait waits until the document meets the needs. Unless the document has changed, v.known is then its latest
// analysis, even after an error.
func (v *view) wait(ctx context.Context, needs need) error {
	late := time.NewTimer(v.maxWait)
	defer late.Stop()
	for {
		v.mu.Lock()
		d, news, ended := v.docs[v.uri], v.news, v.shutDown
		changed := d == nil || d.text != v.text || d.lost
		if !changed {
			v.known = d.known
		}
		done := v.known != nil && (needs&isCurrent == 0 || v.known.text == v.text) && (needs&isUsable == 0 || v.usable())
		v.mu.Unlock()
		switch {
		case changed:
			return errChanged
		case ended:
			return errEnded
		case done:
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

// The caller must hold v.mu. See isUsable.
func (v *view) usable() bool {
	live, analyzed := v.crds.live(), v.searches == 0
	for _, d := range v.docs {
		if d.known != nil || d.lost {
			continue
		}
		if analyzed = false; slices.Contains(v.crds.paths(), d.name) {
			return false // its CRDs are in force, but their text is not published yet
		}
	}
	return analyzed || !slices.ContainsFunc(v.known.parts, func(p *part) bool {
		return p.documentType == object && p.kind != (schema.GroupKind{}) && !live.Knows(p.kind)
	})
}

// startSearch searches folders for CRDs in the background. Requests that depend on all CRDs wait
// until it ends.
func (s *server) startSearch(folders []string) {
	s.mu.Lock()
	s.searches++
	s.mu.Unlock()
	go func() {
		s.findCRDs(s.ctx, folders)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.searches--
		s.wakeWaiting()
	}()
}

// inDocument returns a request about an open document. If the analysis takes longer than maxWait, a request that
// needs CRDs is served with the CRDs that are known by then.
func inDocument[R any](needs need, do func(*view, protocol.Params) R) request {
	return answer(func(s *server, p protocol.Params) func(context.Context) (any, error) {
		v := s.view(p.TextDocument.URI)
		return func(ctx context.Context) (any, error) {
			if v == nil {
				return nil, nil
			}
			if err := v.wait(ctx, needs); err != nil && (err != errLate || needs&isUsable == 0) {
				return nil, err
			}
			return do(v, p), ctx.Err()
		}
	})
}
