package input

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type entry struct {
	name, text string
	kind       byte
	size       int64
}

// pack returns a compressed archive. The content of an entry with a size is zeros.
func pack(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	w := tar.NewWriter(gz)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Size: int64(len(e.text)) + e.size, Mode: 0o644, Typeflag: e.kind}
		if e.kind == tar.TypeSymlink || e.kind == tar.TypeLink {
			h.Linkname, h.Size = e.text, 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			_, _ = w.Write([]byte(e.text))
			for left := e.size; left > 0; left -= 1 << 20 {
				_, _ = w.Write(make([]byte, min(left, 1<<20)))
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestArchive(t *testing.T) {
	t.Parallel()
	nested := string(pack(t, entry{name: "sub/Chart.yaml"}, entry{name: "sub/crds/c.yaml"}, entry{name: "sub/templates/x.yaml"}))
	deep := nested
	for range 6 {
		deep = string(pack(t, entry{name: "a/Chart.yaml"}, entry{name: "a/charts/b.tgz", text: deep}))
	}
	const size, most = 1 << 20, 50
	many := make([]entry, most+1)
	for i := range many {
		many[i] = entry{name: "a"}
	}
	chart := entry{name: "app/Chart.yaml", text: "name: app"}
	for name, c := range map[string]struct {
		archive []byte
		files   string
		err     string
	}{
		"chart":          {archive: pack(t, chart, entry{name: "app/crds/a.yaml"}, entry{name: "app/templates/b.yaml"}, entry{name: "app/charts/d/crds/x.yaml"}), files: "app/crds/a.yaml app/charts/d/crds/x.yaml"},
		"dependency":     {archive: pack(t, chart, entry{name: "app/charts/sub-1.tgz", text: nested}), files: "app/charts/sub-1.tgz:sub/crds/c.yaml"},
		"release":        {archive: pack(t, entry{name: "crds/a.yaml"}, entry{name: "b.json"}, entry{name: "c.txt"}), files: "crds/a.yaml b.json"},
		"links":          {archive: pack(t, chart, entry{name: "app/crds/a.yaml", text: "/etc/passwd", kind: tar.TypeSymlink}, entry{name: "app/crds/b.yaml", text: "../../x", kind: tar.TypeLink})},
		"device":         {archive: pack(t, entry{name: "a.yaml", kind: tar.TypeChar}, entry{name: "b.yaml", kind: tar.TypeFifo})},
		"parent":         {archive: pack(t, entry{name: "../../a.yaml"}), files: "../../a.yaml"},
		"deep":           {archive: []byte(deep)},
		"bomb":           {archive: pack(t, entry{name: "a.txt", size: size + 1}), err: "decompressed"},
		"large file":     {archive: pack(t, entry{name: "a.yaml", size: size + 1}), err: "a.yaml: more than"},
		"many files":     {archive: pack(t, many...), err: "50000 files"},
		"not an archive": {archive: []byte("apiVersion: v1"), err: "unexpected EOF"},
		"cut":            {archive: pack(t, chart)[:40], err: "unexpected EOF"},
	} {
		a := archive{left: size, entries: most}
		err := a.read("x", bytes.NewReader(c.archive), 0)
		var files []string
		for _, text := range a.texts {
			files = append(files, strings.TrimPrefix(text.File, "x:"))
		}
		if got := strings.Join(files, " "); err == nil && got != c.files || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestScanArchive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "app-1.tgz")
	data := pack(t, entry{name: "app/Chart.yaml"}, entry{name: "app/crds/a.yaml", text: "apiVersion: v1\nkind: A\n---\napiVersion: v1\nkind: B\n"})
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	var kinds []any
	Scan(nil, []string{path, dir}, func() {}, func(c Chunk) bool {
		return c.Each(func(d *Document) bool {
			kinds = append(kinds, d.Object["kind"])
			return true
		})
	})
	if !slices.Equal(kinds, []any{"A", "B"}) {
		t.Errorf("got %v", kinds)
	}
}
