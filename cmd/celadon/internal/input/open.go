package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// What the user names may be anything that can be read, a pipe too. What is
// found below a folder, by whoever wrote into it, must be a regular file of that
// folder: another would wait forever, never end, or stand somewhere else.

// found opens a file below a folder by way of its links, none of which may lead
// out of the folder.
func found(folder *os.Root, name string) (*os.File, error) {
	info, err := folder.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("link: %w: want one to a file of the same folder", WithoutPath(err))
	}
	if err := regular(info); err != nil {
		return nil, err
	}
	return still(folder.OpenFile(name, os.O_RDONLY|nonblock, 0))
}

// openRegular opens a regular file.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := regular(info); err != nil {
		return nil, err
	}
	return still(os.OpenFile(path, os.O_RDONLY|nonblock, 0))
}

// still holds that no other file was put there meanwhile.
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

// given is true for what is no regular file and was named by the user, as the
// pipe of a shell is. A link to such a thing is none: someone else may have put
// it in the place of a file. The system's own stand below /dev and /proc.
func given(path string, info fs.FileInfo) bool {
	if info.IsDir() {
		return false
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	if strings.HasPrefix(abs, "/dev/") || strings.HasPrefix(abs, "/proc/") {
		return true
	}
	named, err := os.Lstat(path)
	return err == nil && named.Mode().Type() == info.Mode().Type()
}

// MaxFile is how large a file may be that is read whole, as those with CRDs are.
const MaxFile = 32 << 20

// ReadFile reads a regular file of no more than limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, WithoutPath(err)
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// sized reads all of what is likely to have a size.
func sized(r io.Reader, size int64) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}

// sizeOf is the size of a file; 0 of all else that can be read.
func sizeOf(r io.Reader) int64 {
	if f, ok := r.(fs.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return 0
}

// ReadAll reads no more than limit bytes.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := sized(io.LimitReader(r, limit+1), min(sizeOf(r), limit))
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("more than %d KiB: want less", limit>>10)
	}
	return data, WithoutPath(err)
}

// WithoutPath drops the path from an error that is printed after it.
func WithoutPath(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
