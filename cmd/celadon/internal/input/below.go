package input

import (
	"io/fs"
	"os"
)

// Below is what stands below a folder, as a file system: regular files and folders,
// by way of no link that leads out of it.
func Below(folder *os.Root) fs.FS { return below{folder, folder.FS()} }

type below struct {
	folder *os.Root
	fs.FS
}

// Open never waits for who writes into a pipe.
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

// Stat spares opening.
func (b below) Stat(name string) (fs.FileInfo, error) { return b.folder.Stat(name) }
