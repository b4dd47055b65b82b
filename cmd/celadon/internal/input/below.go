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
