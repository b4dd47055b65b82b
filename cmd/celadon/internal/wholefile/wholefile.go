// Package wholefile writes files whole or not at all: whoever reads one sees what
// it held before or what it holds now, after a crash too.
//
//	err := wholefile.Replace("crd.yaml", before, after) // still what was read?
//	err := wholefile.Write("new.yaml", data)
package wholefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	target, mode := name, fs.FileMode(0o644)
	if to, err := filepath.EvalSymlinks(name); err == nil {
		target = to
	} else if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("%s: a link that leads nowhere: want a file", name)
	}
	if info, err := os.Stat(target); err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s: not a regular file", name)
		}
		mode = info.Mode().Perm()
	}
	if err := replace(target, data, mode); err != nil {
		return plain(name, err)
	}
	return nil
}

// replace writes a file beside the target and gives it the target's name.
func replace(target string, data []byte, mode fs.FileMode) error {
	folder := filepath.Dir(target)
	temp, err := os.CreateTemp(folder, ".celadon-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), target)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		return err
	}
	// The name is safe once the folder is; not every file system can do it.
	if dir, err := os.Open(folder); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
	return nil
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
