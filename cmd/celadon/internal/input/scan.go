package input

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Chunk is a piece of input whose objects are not decoded yet: one object, one
// YAML document, or a small file.
type Chunk struct {
	// File is the file as the user named it; "-" is standard input.
	File string
	// Skip, where it is set, is asked of an object by what it is called; what it is
	// true of is not decoded, and is a document of no more than that.
	Skip func(*Document) bool

	form         form
	index, item  int
	line, column int // of text
	before       []byte
	text         []byte
	size         int64 // of a small file
	flow         bool  // YAML if it is not JSON
	err          error

	apiVersion, kind string // of a live object
}

type form uint8

const (
	failure form = iota // err alone
	smallFile
	jsonValue
	jsonItem
	yamlDocument
	liveObject
	lostObjects // of a cluster
)

// small files are read where they are decoded; larger ones are split first.
const small = 1 << 20

// Scan finds the chunks of files, folders and "-", in order, until yield says
// false. What cannot be read is a chunk whose document has an error. Before it
// waits for input it calls wait.
func Scan(stdin io.Reader, paths []string, wait func(), yield func(Chunk) bool) {
	Selection{}.Scan(stdin, paths, wait, yield)
}

// Scan is the function of that name, for what is selected.
func (s Selection) Scan(stdin io.Reader, paths []string, wait func(), yield func(Chunk) bool) {
	for _, path := range paths {
		more := true
		if path == "-" {
			more = split("-", stdin, wait, yield)
		} else {
			more = walk(path, s, wait, yield)
		}
		if !more {
			return
		}
	}
}

// Split finds the chunks of one stream.
func Split(file string, r io.Reader, yield func(Chunk) bool) {
	split(file, r, func() {}, yield)
}

// SplitText finds the chunks of a text, which they go on to use: it must not change.
func SplitText(file string, text []byte, yield func(Chunk) bool) {
	s := splitter{file: file, w: bytesWindow(text), yield: yield}
	s.run()
}

func split(file string, r io.Reader, wait func(), yield func(Chunk) bool) bool {
	s := splitter{file: file, w: newWindow(r, wait), yield: yield}
	return s.run()
}

// walk reads a file, or all files of a folder that may hold objects.
func walk(root string, s Selection, wait func(), yield func(Chunk) bool) bool {
	root = followed(root)
	w := walker{root: root, wait: wait, yield: yield}
	defer w.close()
	more := true
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			more = yield(Chunk{File: path, err: WithoutPath(err)})
		case path == root && !d.IsDir():
			more = w.named()
		case path != root && s.leavesOut(root, path, d):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		case !Readable(path):
			s.unfollowed(path, d)
			return nil
		default:
			more = w.found(path, d)
		}
		if !more {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil && more {
		more = yield(Chunk{File: root, err: WithoutPath(err)})
	}
	return more
}

// walker reads what stands at or below a path.
type walker struct {
	root   string
	folder *os.Root // that of root, opened for the first link
	wait   func()
	yield  func(Chunk) bool
}

func (w *walker) close() {
	if w.folder != nil {
		w.folder.Close()
	}
}

// named reads a file that the user named.
func (w *walker) named() bool {
	info, err := os.Stat(w.root)
	switch {
	case err != nil:
		return w.lost(w.root, err)
	case info.Mode().IsRegular():
		return w.regular(w.root, info)
	case !given(w.root, info):
		return w.lost(w.root, fmt.Errorf("a link to %s: want one to a regular file", kind(info.Mode())))
	}
	f, err := os.Open(w.root)
	return w.read(w.root, f, err)
}

// found reads a file that stands below the folder.
func (w *walker) found(path string, d fs.DirEntry) bool {
	switch {
	case d.Type().IsRegular():
		info, err := d.Info()
		if err != nil {
			return w.lost(path, err)
		}
		return w.regular(path, info)
	case d.Type() != fs.ModeSymlink:
		return w.lost(path, fmt.Errorf("%s: want a regular file", kind(d.Type())))
	}
	name, err := filepath.Rel(w.root, path)
	if err == nil && w.folder == nil {
		w.folder, err = os.OpenRoot(w.root)
	}
	if err != nil {
		return w.lost(path, err)
	}
	f, err := found(w.folder, name)
	return w.read(path, f, err)
}

func (w *walker) regular(path string, info fs.FileInfo) bool {
	if info.Size() < small {
		return w.yield(Chunk{File: path, form: smallFile, size: info.Size()})
	}
	f, err := openRegular(path)
	return w.read(path, f, err)
}

func (w *walker) read(path string, f *os.File, err error) bool {
	if err != nil {
		return w.lost(path, err)
	}
	defer f.Close()
	return split(path, f, w.wait, w.yield)
}

func (w *walker) lost(path string, err error) bool {
	return w.yield(Chunk{File: path, err: WithoutPath(err)})
}

// Readable is true for the names of files that may hold objects.
func Readable(path string) bool {
	switch filepath.Ext(path) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// Size is about how many bytes the chunk holds.
func (c Chunk) Size() int {
	if c.form == smallFile {
		return int(max(1<<10, c.size))
	}
	return len(c.text)
}
