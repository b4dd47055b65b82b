// Package outfile writes output files. All commands use it, so that no author of a commit can redirect an output with a
// link, and so that readers see the old or the new content of a file, even after a crash.
//
//	err := outfile.Replace("crd.yaml", before, after) // fails if the file has changed
//	err := outfile.Write("new.yaml", data)
//	f, err := outfile.Create("report.json")           // for content that arrives in parts
//	err := outfile.MkdirAll("site", 0o777)            // a folder for output files
//
// A path may go through links inside its git work tree (without git: inside the working directory), but not through a link
// that leads out of it. Links that are above or outside of the tree are the user's own and are followed.
//
// google/renameio and natefinch/atomic open and rename by path, so a link that is created after the check would redirect
// them. Here each step goes through an os.Root.
package outfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
)

// ErrChanged reports that a file does not hold the expected content.
var ErrChanged = errors.New("the file has changed since it was read")

// Replace writes after to the file name. The error wraps ErrChanged if the file has other content than before.
func Replace(name string, before, after []byte) error {
	f, err := Create(name)
	if err != nil {
		return err
	}
	defer f.Discard()
	info, err := input.StatRegular(name)
	if err != nil {
		return withoutPath(name, err)
	}
	if info.Size() != int64(len(before)) {
		return fmt.Errorf("%s: %w", name, ErrChanged)
	}
	now, err := input.ReadFile(name, info.Size())
	if err != nil {
		return withoutPath(name, err)
	}
	if !bytes.Equal(now, before) {
		return fmt.Errorf("%s: %w", name, ErrChanged)
	}
	return f.all(after)
}

// Write replaces the content of the file name, which is created if it does not exist. If name is a link, its target is
// written and the link stays. The file keeps its mode.
func Write(name string, data []byte) error {
	f, err := Create(name)
	if err != nil {
		return err
	}
	defer f.Discard()
	return f.all(data)
}

func (f *File) all(data []byte) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// A File is the future content of a file. Until Commit, it is stored in the same folder under another name. A device or
// pipe is written directly.
type File struct {
	name   string // as the user wrote it
	at     *target
	temp   *os.File // nil after Commit and Discard
	mode   fs.FileMode
	direct bool // temp is the device or pipe itself
}

// Create starts to write the file name.
func Create(name string) (*File, error) {
	if system(name) {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return nil, withoutPath(name, err)
		}
		return &File{name: name, temp: f, direct: true}, nil
	}
	at, err := locate(name)
	if err != nil {
		return nil, err
	}
	f := &File{name: name, at: at, mode: 0o644}
	if err := f.open(); err != nil {
		at.close()
		return nil, err
	}
	return f, nil
}

func (f *File) open() (err error) {
	info, err := f.at.root.Lstat(f.at.rel)
	switch {
	case err != nil && isLink(f.name):
		return errNowhere(f.name)
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return withoutPath(f.name, err)
	case info.Mode().IsRegular():
		f.mode = info.Mode().Perm()
	case f.at.inTree || info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) == 0:
		return fmt.Errorf("%s: not a regular file", f.name)
	default:
		f.direct = true
		f.temp, err = f.at.root.OpenFile(f.at.rel, os.O_WRONLY, 0)
		return withoutPath(f.name, err)
	}
	f.temp, err = f.at.createTemp()
	return withoutPath(f.name, err)
}

// system reports whether name is a device, pipe, or descriptor of the system. /dev/stdout, for example, is a link to
// something that may have no path. Files in /dev/shm are files like any others.
func system(name string) bool {
	name = filepath.Clean(name)
	if !strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "/dev/shm/") {
		return false
	}
	info, err := os.Lstat(name)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func errNowhere(name string) error {
	return fmt.Errorf("%s: a dangling link: want a file", name)
}

func (f *File) Write(data []byte) (int, error) {
	n, err := f.temp.Write(data)
	return n, withoutPath(f.name, err)
}

// Commit replaces the file's content by the content that was written.
func (f *File) Commit() error {
	temp := f.temp
	f.temp = nil
	if f.direct {
		f.at.close()
		return withoutPath(f.name, temp.Close())
	}
	defer f.at.close()
	err := errors.Join(temp.Chmod(f.mode), temp.Sync(), temp.Close())
	if err == nil {
		err = f.at.root.Rename(f.at.tempPath(temp), f.at.rel)
	}
	if err != nil {
		_ = f.at.root.Remove(f.at.tempPath(temp))
		return withoutPath(f.name, err)
	}
	// The rename is durable once the folder is synced. Not every file system supports that.
	if dir, err := f.at.root.Open(filepath.Dir(f.at.rel)); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
	return nil
}

// Discard drops content that was not committed. It does nothing after Commit.
func (f *File) Discard() {
	if f.temp == nil {
		return
	}
	_ = f.temp.Close()
	if !f.direct {
		_ = f.at.root.Remove(f.at.tempPath(f.temp))
	}
	f.temp = nil
	f.at.close()
}

// Append opens the file name for appending. It is created with mode if it does not exist.
func Append(name string, mode fs.FileMode) (*os.File, error) {
	at, err := locate(name)
	if err != nil {
		return nil, err
	}
	defer at.close()
	f, err := at.root.OpenFile(at.rel, os.O_APPEND|os.O_CREATE|os.O_WRONLY, mode)
	return f, withoutPath(name, err)
}

// withoutPath returns err with the name that the user wrote instead of the path in err, which can be a temporary file.
func withoutPath(name string, err error) error {
	if err == nil {
		return nil
	}
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	if errors.Is(err, syscall.ELOOP) {
		return errNowhere(name)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// LineStart returns the offset of a line, counted from 1, or the length of text if it has fewer lines.
func LineStart(text []byte, line int) int {
	offset := 0
	for ; line > 1; line-- {
		end := bytes.IndexByte(text[offset:], '\n')
		if end < 0 {
			return len(text)
		}
		offset += end + 1
	}
	return offset
}
