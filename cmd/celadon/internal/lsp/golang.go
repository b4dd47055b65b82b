package lsp

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
)

func (v *view) isGo() bool { return strings.HasSuffix(v.name, ".go") }

// trusted returns the reviewer for Go packages, or nil if the user does not trust the workspace or
// the file is outside it.
func (s *server) trusted(name string) *vet.GoReviewer {
	s.mu.Lock()
	defer s.mu.Unlock()
	inside := slices.ContainsFunc(s.roots, func(root string) bool {
		rel, err := filepath.Rel(root, name)
		return err == nil && filepath.IsLocal(rel)
	})
	if !s.settings.Trusted || !inside {
		return nil
	}
	return s.goReviewer
}

// ofGo adds the findings of celadon vet for a Go file with markers. If the package cannot be read or
// defines no CRD, it adds nothing.
func (v *view) ofGo(ctx context.Context, a *analysis) {
	reviewer := v.trusted(v.name)
	if reviewer == nil || !bytes.Contains(v.text.bytes, []byte("// +")) {
		return
	}
	findings, err := reviewer.Vet(ctx, filepath.Dir(v.name), v.openGo())
	name := resolved(v.name)
	if err != nil && ctx.Err() == nil {
		v.once(protocol.Warning, filepath.Dir(v.name)+": its markers are not checked: "+err.Error())
	}
	if err != nil {
		return
	}
	a.golang = findings
	omitted := 0
	for _, f := range findings {
		if f.At.File != name || f.At.Line == 0 {
			continue
		}
		if len(a.diagnostics) == maxFindings {
			omitted++
			continue
		}
		from := v.text.offsetAt(f.At.Line, f.At.Column)
		a.diagnostics = append(a.diagnostics, diagnostic(v.text.rangeOf(from, v.text.wordEnd(from)), &f))
	}
	a.more(omitted)
}

// openGo returns the contents of Go files that are open in the editor.
func (s *server) openGo() map[string][]byte {
	open := map[string][]byte{}
	s.docs.mu.Lock()
	for _, d := range s.docs.all {
		if strings.HasSuffix(d.name, ".go") {
			open[d.name] = d.text.bytes
		}
	}
	s.docs.mu.Unlock()
	texts := map[string][]byte{}
	for name, text := range open {
		texts[resolved(name)] = text
	}
	return texts
}

// resolved returns the path with links in its folders resolved, as in Go's positions.
func resolved(name string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		return name
	}
	return filepath.Join(dir, filepath.Base(name))
}

// wordEnd returns the end of the name at an offset, or else of the line.
func (t *text) wordEnd(from int) int {
	end := from
	for end < len(t.bytes) && (t.bytes[end] == '_' || t.bytes[end] >= '0' && t.bytes[end] <= '9' || t.bytes[end]|0x20 >= 'a' && t.bytes[end]|0x20 <= 'z') {
		end++
	}
	if end == from {
		return max(from, t.trimmedEnd(from))
	}
	return end
}

// markers offers to add missing markers.
func (a *actor) markers() {
	if a.known == nil || a.known.text != a.text || !a.wants(quickFix) {
		return
	}
	for _, f := range a.known.golang {
		if f.Write == "" || f.At.File != resolved(a.name) || !overlaps(a.text, a.text.line(f.At.Line), a.from, a.to) {
			continue
		}
		at := a.text.offsetAt(f.At.Line, 1)
		word := a.text.offsetAt(f.At.Line, 0)
		line := string(a.text.bytes[at:word])
		edit := protocol.TextEdit{Range: a.text.rangeOf(at, at), NewText: line + f.Write + "\n"}
		a.offer(quickFix, "write "+f.Write, []protocol.TextEdit{edit}, true, func(d *protocol.Diagnostic) bool { return d.Code == f.ID && d.Message == shown(f.Text()) })
	}
}
