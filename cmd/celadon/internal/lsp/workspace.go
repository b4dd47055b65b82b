package lsp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
)

// Limits of the walk for CRDs. The workspace is untrusted, and the user may open the root of a disk.
const (
	maxEntries = 200_000
	maxFile    = 16 << 20  // bytes of a file
	maxRead    = 512 << 20 // bytes of all files
	maxDepth   = 32
	maxCRDs    = 5_000
)

// passedOver lists folders that do not contain the user's own CRDs.
var passedOver = []string{"node_modules", "vendor", "testdata"}

type walk struct {
	*server
	root    string
	folder  fs.FS
	entries int
	read    int64 // bytes
	found   int
	changed map[schema.GroupKind]bool
}

var errEnough = errors.New("enough")

func (s *server) findCRDs(ctx context.Context, folders []string) {
	w := walk{server: s, changed: map[schema.GroupKind]bool{}}
	for _, root := range folders {
		if err := w.below(ctx, root); err != nil && ctx.Err() == nil {
			s.log(protocol.Warning, fmt.Sprintf("%s: %v", root, err))
		}
	}
	s.rounds.mark(s.dependents(w.changed)...)
}

func (w *walk) below(ctx context.Context, root string) error {
	folder, err := os.OpenRoot(root)
	if err != nil {
		return input.WithoutPath(err)
	}
	defer folder.Close()
	w.root, w.folder = root, input.Below(folder)
	err = fs.WalkDir(w.folder, ".", func(path string, d fs.DirEntry, err error) error {
		if w.entries++; ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case w.entries > maxEntries || w.read > maxRead || w.found > maxCRDs:
			return errEnough
		case err != nil:
			return nil // a folder that cannot be listed is skipped
		case d.IsDir():
			if path != "." && (d.Name()[0] == '.' || slices.Contains(passedOver, d.Name())) || strings.Count(path, "/") > maxDepth {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && input.Readable(path):
			w.file(path)
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return fmt.Errorf("more than %d files and folders, %d MiB, or %d CRDs: other files are searched for CRDs only when they are opened", maxEntries, maxRead>>20, maxCRDs)
	}
	return err
}

func (w *walk) file(path string) {
	name := filepath.Join(w.root, filepath.FromSlash(path))
	if w.opened(name) != nil {
		return // the text in the editor takes precedence
	}
	f, err := w.folder.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	data, err := input.ReadAll(f, maxFile)
	w.read += int64(len(data))
	if err != nil {
		return
	}
	var reads []read
	w.guard(name, func() { reads = readCRDs(name, data) })
	if w.found += len(reads); w.found > maxCRDs {
		return
	}
	w.crds.set(name, reads, w.changed)
}

func (s *server) readFile(path string, changed map[schema.GroupKind]bool) {
	var reads []read
	if data, err := s.onDisk(path); err == nil {
		s.guard(path, func() { reads = readCRDs(path, data) })
	}
	s.crds.set(path, reads, changed)
	s.rounds.mark(s.dependents(changed)...)
}

// onDisk reads a file of the workspace. It does not follow links out of the workspace.
func (s *server) onDisk(path string) ([]byte, error) {
	root, rel := s.folderOf(path)
	if root == "" {
		return nil, fs.ErrNotExist
	}
	return input.ReadBelow(root, rel, maxFile)
}

// folderOf returns the innermost workspace folder that contains a file, and the file's path relative to it.
// It returns "" if no folder contains the file, or if its extension is not one of YAML or JSON.
func (s *server) folderOf(path string) (root, rel string) {
	for _, folder := range s.folders() {
		if below := relative(folder, path); below != "" && len(folder) > len(root) && input.Readable(path) {
			root, rel = folder, below
		}
	}
	return root, rel
}

func relative(folder, path string) string {
	if rel, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return ""
}

func readCRDs(name string, data []byte) (reads []read) {
	if !resource.MayDefine(data) {
		return nil
	}
	t := &text{bytes: data}
	parts := split(name, "", t)
	if template(name, "", t, parts) {
		return nil
	}
	for _, p := range parts {
		if p.documentType == crd {
			reads = appendReads(reads, name, append([]*input.Document{p.doc}, p.also...)...)
		}
	}
	return reads
}

func appendReads(reads []read, name string, docs ...*input.Document) []read {
	for _, doc := range docs {
		if r := newRead(name, doc); r.CRD != nil {
			reads = append(reads, r)
		}
	}
	return reads
}

func (s *server) log(level protocol.Severity, message string) {
	_ = s.conn.Notify("window/logMessage", fields{"type": level, "message": shown(message)})
}
