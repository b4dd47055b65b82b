package gotree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/x/markers"
)

const (
	// maxFile and maxBytes limit the bytes of a file and of all files. They exceed any handwritten
	// Go file and any API.
	maxFile    = 16 << 20
	maxBytes   = 512 << 20
	maxFiles   = 50_000
	maxEntries = 100_000
	maxDepth   = 100
)

func (t *Tree) read(of fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(of, name)
	if err != nil {
		return nil, withoutPath(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("want a regular file")
	}
	f, err := of.Open(name)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, withoutPath(err)
	case len(data) > maxFile:
		return nil, fmt.Errorf("more than %d MiB", maxFile>>20)
	}
	t.files++
	t.bytes += int64(len(data))
	if t.files > maxFiles || t.bytes > maxBytes {
		return nil, fmt.Errorf("more than %d files or %d MiB of Go: %w", maxFiles, maxBytes>>20, errTooMuch)
	}
	return data, nil
}

// errTooMuch ends the run.
var errTooMuch = errors.New("name fewer packages")

// withoutPath removes the path from an error whose message already includes it.
func withoutPath(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

func folder(of fs.FS, name string) ([]fs.DirEntry, error) {
	f, err := of.Open(name)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, errors.New("want a folder")
	}
	list, err := d.ReadDir(maxEntries + 1)
	if err != nil && err != io.EOF {
		return nil, withoutPath(err)
	}
	if len(list) > maxEntries {
		return nil, fmt.Errorf("more than %d entries", maxEntries)
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

func (t *Tree) goFiles(of fs.FS, dir, name string, list []fs.DirEntry) (files []markers.File, err error) {
	for _, e := range list {
		base := e.Name()
		if e.IsDir() || !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") || base[0] == '.' || base[0] == '_' {
			continue
		}
		data, err := t.read(of, path.Join(dir, base))
		if err != nil {
			if t.bad = append(t.bad, Bad{path.Join(name, base), err}); errors.Is(err, errTooMuch) {
				return nil, err
			}
			continue
		}
		if markers.Built(base, data) {
			files = append(files, markers.File{Name: path.Join(name, base), Text: data})
		}
	}
	return files, nil
}
