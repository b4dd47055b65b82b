package input

import (
	"errors"
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

	form         form
	index, item  int
	line, column int // of text
	before       []byte
	text         []byte
	flow         bool // YAML if it is not JSON
	err          error
}

type form uint8

const (
	failure form = iota // err alone
	smallFile
	jsonValue
	jsonItem
	yamlDocument
)

// small files are read where they are decoded; larger ones are split first.
const small = 1 << 20

// Scan finds the chunks of files, folders and "-", in order, until yield says
// false. What cannot be read is a chunk whose document has an error. Before it
// waits for input it calls wait.
func Scan(stdin io.Reader, paths []string, wait func(), yield func(Chunk) bool) {
	for _, path := range paths {
		more := true
		if path == "-" {
			more = split("-", stdin, wait, yield)
		} else {
			more = walk(path, wait, yield)
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

func split(file string, r io.Reader, wait func(), yield func(Chunk) bool) bool {
	s := splitter{file: file, w: newWindow(r, wait), yield: yield}
	return s.run()
}

// walk reads a file, or all files of a folder that may hold objects.
func walk(root string, wait func(), yield func(Chunk) bool) bool {
	more := true
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			more = yield(Chunk{File: path, err: WithoutPath(err)})
		case d.IsDir() || path != root && !Readable(path):
			return nil
		default:
			more = file(path, wait, yield)
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

func file(path string, wait func(), yield func(Chunk) bool) bool {
	info, err := os.Stat(path)
	if err != nil {
		return yield(Chunk{File: path, err: WithoutPath(err)})
	}
	if info.Mode().IsRegular() && info.Size() < small {
		return yield(Chunk{File: path, form: smallFile})
	}
	f, err := os.Open(path)
	if err != nil {
		return yield(Chunk{File: path, err: WithoutPath(err)})
	}
	defer f.Close()
	return split(path, f, wait, yield)
}

// WithoutPath drops the path from an error that is printed after it.
func WithoutPath(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
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
		return 8 << 10
	}
	return len(c.text)
}
