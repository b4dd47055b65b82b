package input

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
)

// Limits of an archive. A hostile archive can be much larger when it is decompressed.
const (
	maxArchive        = 128 << 20 // decompressed, with the files that are not read
	maxArchiveEntries = 50_000
	maxArchiveDepth   = 3 // charts in charts
)

// IsArchive reports whether a path has the extension of a packaged Helm chart.
func IsArchive(name string) bool {
	return strings.HasSuffix(name, ".tgz") || strings.HasSuffix(name, ".tar.gz")
}

var crdsOfChart = regexp.MustCompile(`^[^/]+/(charts/[^/]+/)*crds/`)

// Archive returns the YAML and JSON files in a tar archive, which may be compressed by gzip. Of a Helm chart, these
// are only the files in the crds folders of the chart and its dependencies. Nothing is written to the disk, and links
// are ignored. File names begin with name.
func Archive(name string, r io.Reader) ([]Text, error) {
	a := archive{left: maxArchive, entries: maxArchiveEntries}
	if err := a.read(name, r, 0); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	return a.texts, nil
}

type archive struct {
	left    int64
	entries int
	texts   []Text
}

var errLargeArchive = fmt.Errorf("more than %d MiB decompressed or %d files", maxArchive>>20, maxArchiveEntries)

func (a *archive) reader(r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		if a.left <= 0 {
			return 0, errLargeArchive
		}
		n, err := r.Read(p[:min(int64(len(p)), a.left)])
		a.left -= int64(n)
		return n, err
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func (a *archive) read(name string, r io.Reader, depth int) error {
	in := bufio.NewReader(r)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		gz, err := gzip.NewReader(in)
		if err != nil {
			return err
		}
		in = bufio.NewReader(gz)
	}
	files := tar.NewReader(a.reader(in))
	isChart, first := false, len(a.texts)
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if a.entries--; a.entries < 0 {
			return errLargeArchive
		}
		file := path.Clean(h.Name)
		isChart = isChart || strings.Count(file, "/") == 1 && path.Base(file) == "Chart.yaml"
		nested := IsArchive(file) && strings.Contains(file, "/charts/") && depth < maxArchiveDepth
		if h.Typeflag != tar.TypeReg || !Readable(file) && !nested {
			continue
		}
		if h.Size > min(MaxFile, a.left) { // a sparse file is larger than its entry
			return fmt.Errorf("%s: %w", file, errLargeArchive)
		}
		data, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		if full := name + ":" + file; !nested {
			a.texts = append(a.texts, Text{File: full, Data: data})
		} else if err := a.read(full, bytes.NewReader(data), depth+1); err != nil {
			return err
		}
	}
	if isChart {
		a.keepCRDs(name, first)
	}
	return nil
}

// keepCRDs removes the files of a chart, from index first, except its CRDs and the files of nested archives.
func (a *archive) keepCRDs(name string, first int) {
	kept := a.texts[:first]
	for _, text := range a.texts[first:] {
		file := strings.TrimPrefix(text.File, name+":")
		if strings.Contains(file, ":") || crdsOfChart.MatchString(file) {
			kept = append(kept, text)
		}
	}
	a.texts = kept
}

func (w *walker) archive() bool {
	f, err := openRegular(w.root)
	if err != nil {
		return w.lost(w.root, err)
	}
	defer f.Close()
	texts, err := Archive(w.root, f)
	if err != nil {
		return w.lost(w.root, err)
	}
	for _, text := range texts {
		if !SplitText(text.File, text.Data, w.yield) {
			return false
		}
	}
	return true
}
