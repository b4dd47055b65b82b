// Package wholefile writes files whole or not at all: whoever reads one sees what
// it held before or what it holds now, after a crash too.
//
//	err := wholefile.Replace("crd.yaml", before, after) // still what was read?
//	err := wholefile.Write("new.yaml", data)
//	f, err := wholefile.Create("report.json")           // written as it comes
package wholefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrChanged says that a file no longer holds what was read from it.
var ErrChanged = errors.New("the file has changed since it was read")

// Replace writes after into a file that holds before; the error is ErrChanged
// where it holds something else by now.
func Replace(name string, before, after []byte) error {
	now, err := os.ReadFile(name)
	if err != nil {
		return plain(name, err)
	}
	if !bytes.Equal(now, before) {
		return fmt.Errorf("%s: %w", name, ErrChanged)
	}
	return Write(name, after)
}

// Write makes data all that a file holds, and the file where there is none. A link
// stays, and what it leads to is written; the file's mode stays.
func Write(name string, data []byte) error {
	f, err := Create(name)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// File is what a file will hold. It stands beside it under another name.
type File struct {
	name, target string
	temp         *os.File // nil when it is done
	mode         fs.FileMode
}

// Create begins what Write does at once: the file is as it was until Commit.
func Create(name string) (*File, error) {
	f := &File{name: name, target: name, mode: 0o644}
	if to, err := filepath.EvalSymlinks(name); err == nil {
		f.target = to
	} else if _, err := os.Lstat(name); err == nil {
		return nil, fmt.Errorf("%s: a link that leads nowhere: want a file", name)
	}
	if info, err := os.Stat(f.target); err == nil {
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s: not a regular file", name)
		}
		f.mode = info.Mode().Perm()
	}
	temp, err := os.CreateTemp(filepath.Dir(f.target), beside(f.target)+"*")
	if err != nil {
		return nil, plain(name, err)
	}
	f.temp = temp
	return f, nil
}

// maxName is how much of a file's name that beside it begins with.
const maxName = 100

// beside is how the name of a file begins that stands beside another until that is
// whole. Digits follow.
func beside(target string) string {
	name := filepath.Base(target)
	return ".celadon-" + name[:min(len(name), maxName)] + "-"
}

// Clean removes what was left beside a file by those who were killed while they wrote
// it. Who still does fails.
func Clean(name string) {
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil {
		return // which Create tells
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), beside(name))
		if ok && rest != "" && strings.Trim(rest, "0123456789") == "" && e.Type().IsRegular() {
			_ = os.Remove(filepath.Join(filepath.Dir(name), e.Name()))
		}
	}
}

func (f *File) Write(data []byte) (int, error) {
	n, err := f.temp.Write(data)
	if err != nil {
		err = plain(f.name, err)
	}
	return n, err
}

// Commit gives what was written the file's name.
func (f *File) Commit() error {
	temp := f.temp
	f.temp = nil
	err := errors.Join(temp.Chmod(f.mode), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), f.target)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		return plain(f.name, err)
	}
	// The name is safe once the folder is; not every file system can do it.
	if dir, err := os.Open(filepath.Dir(f.target)); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
	return nil
}

// Discard drops what was not committed.
func (f *File) Discard() {
	if f.temp != nil {
		_ = f.temp.Close()
		_ = os.Remove(f.temp.Name())
		f.temp = nil
	}
}

// plain is an error under the name that the user knows: that of the file beside
// it says nothing.
func plain(name string, err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// LineStart is where a line begins in a text, from 1; the text's end where there is
// none.
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
