package input

import (
	"io/fs"
	"os"
)

// Below returns a file system of the regular files and folders below folder. It follows links that
// stay in the folder.
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

// Stat implements fs.StatFS, so that a file need not be opened to be examined.
func (b below) Stat(name string) (fs.FileInfo, error) { return b.folder.Stat(name) }
