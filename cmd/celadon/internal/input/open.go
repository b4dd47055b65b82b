package input

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	kjson "sigs.k8s.io/json"
)

// A path that the user names can be anything readable, for example a pipe. Files that are found
// below a folder are untrusted: they must be regular files of that folder. Any other file could
// block, never end, or be outside the folder.

// found opens a file below folder. It follows links that do not lead out of the folder.
func found(folder *os.Root, name string) (*os.File, error) {
	info, err := folder.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("link: %w: want a link to a file in the same folder", WithoutPath(err))
	}
	if err := regular(info); err != nil {
		return nil, err
	}
	return still(folder.OpenFile(name, os.O_RDONLY|nonblock, 0))
}

func openRegular(path string) (*os.File, error) {
	if _, err := StatRegular(path); err != nil {
		return nil, err
	}
	return reopened(path)
}

// reopened opens a path that was a regular file when it was found.
func reopened(path string) (*os.File, error) {
	return still(os.OpenFile(path, os.O_RDONLY|nonblock, 0))
}

// StatRegular returns the description of path. Its errors do not contain the path.
func StatRegular(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = regular(info)
	}
	return info, WithoutPath(err)
}

// still returns f if it is a regular file. The file may have been replaced since its path was checked.
func still(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func regular(info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("%s: want a regular file", kind(info.Mode()))
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "no file"
}

// mayReadSpecialFile reports whether a path that is not a regular file may be read because the user named it, for
// example a pipe created by a shell. Links to pipes or devices may not, because another user may have replaced a file
// by such a link. Links in /dev, except /dev/shm, and in /proc are trusted, because only the system makes them.
func mayReadSpecialFile(path string, info fs.FileInfo) bool {
	if info.IsDir() {
		return false
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	if (strings.HasPrefix(abs, "/dev/") || strings.HasPrefix(abs, "/proc/")) && !strings.HasPrefix(abs, "/dev/shm/") {
		return true
	}
	named, err := os.Lstat(path)
	return err == nil && named.Mode().Type() == info.Mode().Type()
}

// MaxFile limits the size of files that are read whole, for example files with CRDs.
const MaxFile = 32 << 20

// ReadFile reads a regular file. It returns an error if the file has more than limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, WithoutPath(err)
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// ReadAll reads all of r. It returns an error if r has more than limit bytes.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("more than %d KiB", limit>>10)
	}
	return data, WithoutPath(err)
}

// UnmarshalStrict decodes JSON. Unknown and duplicate fields are errors.
func UnmarshalStrict(data []byte, v any) error {
	strict, err := kjson.UnmarshalStrict(data, v)
	return cmp.Or(err, errors.Join(strict...))
}

// A Head is a writer that keeps the first bytes written to it. It does not embed bytes.Buffer, whose ReadFrom
// has no limit.
type Head struct {
	Limit int
	// Exceeded is set if more was written. OnExceeded, if not nil, is then called.
	Exceeded   bool
	OnExceeded func()
	kept       bytes.Buffer
}

func (h *Head) Write(p []byte) (int, error) {
	keep := min(len(p), h.Limit-h.kept.Len())
	h.kept.Write(p[:keep])
	if keep < len(p) {
		if h.Exceeded = true; h.OnExceeded != nil {
			h.OnExceeded()
		}
	}
	return len(p), nil
}

// Bytes returns the first bytes written.
func (h *Head) Bytes() []byte { return h.kept.Bytes() }

// WithoutPath removes the path from an error, for callers that print the path themselves.
func WithoutPath(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// Below returns a file system of the regular files and folders below folder. It follows links that stay in the folder.
func Below(folder *os.Root) fs.FS { return below{folder, folder.FS()} }

type below struct {
	folder *os.Root
	fs.FS
}

// Open opens a regular file or a folder. It never blocks on a named pipe.
func (b below) Open(name string) (fs.File, error) {
	info, err := b.folder.Stat(name)
	if err == nil && info.IsDir() {
		return b.FS.Open(name)
	}
	f, err := found(b.folder, name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f, nil
}

// ReadBelow reads a regular file of at most limit bytes in folder, as Below opens it.
func ReadBelow(folder, name string, limit int64) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, WithoutPath(err)
	}
	defer root.Close()
	f, err := found(root, name)
	if err != nil {
		return nil, WithoutPath(err)
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// Stat implements fs.StatFS, so that a file need not be opened to be examined.
func (b below) Stat(name string) (fs.FileInfo, error) { return b.folder.Stat(name) }
