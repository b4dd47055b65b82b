package lsp

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
)

func (d *document) isGo() bool { return strings.HasSuffix(d.name, ".go") }

// trusted returns the reviewer for Go packages, or nil if the user does not trust the workspace or
// the file is outside it.
func (s *server) trusted(name string) *vet.GoReviewer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if inside := slices.ContainsFunc(s.roots, func(root string) bool { return relative(root, name) != "" }); !s.settings.Trusted || !inside {
		return nil
	}
	return s.goReviewer
}

func (v *view) ofGo(ctx context.Context, a *analysis) {
	reviewer := v.trusted(v.name)
	if reviewer == nil || !bytes.Contains(v.text.bytes, []byte("// +")) {
		return
	}
	findings, err := reviewer.Vet(ctx, filepath.Dir(v.name), v.openGo())
	name := resolved(v.name)
	if err != nil {
		message := filepath.Dir(v.name) + ": its markers are not checked: " + err.Error()
		if ctx.Err() != nil {
			return
		}
		if _, told := v.logged.LoadOrStore(message, true); !told {
			v.log(protocol.Warning, message)
		}
		return
	}
	a.golang = findings
	var found []protocol.Diagnostic
	for _, f := range findings {
		if f.At.File == name && f.At.Line > 0 {
			from := v.text.offsetAt(f.At.Line, f.At.Column)
			to := max(from, v.text.trimmedEnd(from))
			if name := goName.Find(v.text.bytes[from:]); name != nil {
				to = from + len(name)
			}
			found = append(found, diagnostic(v.text.rangeOf(from, to), &f))
		}
	}
	a.publish(found, 0)
}

func (s *server) openGo() map[string][]byte {
	s.mu.Lock()
	texts := map[string][]byte{}
	for _, d := range s.docs {
		if d.isGo() {
			texts[d.name] = d.text.bytes
		}
	}
	s.mu.Unlock()
	open := map[string][]byte{}
	for name, text := range texts {
		open[resolved(name)] = text
	}
	return open
}

// resolved returns the path with links in its folders resolved, as in the positions that vet.GoReviewer returns.
func resolved(name string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		return name
	}
	return filepath.Join(dir, filepath.Base(name))
}

var goName = regexp.MustCompile(`^[0-9A-Za-z_]+`)

func (a *actor) markers() {
	if !a.wants(quickFix) {
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
