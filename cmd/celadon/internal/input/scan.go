package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Chunk is a piece of input whose objects are not yet decoded: one object, one YAML document, a small file, or
// an error.
type Chunk struct {
	// File is the path for messages; "-" is standard input.
	File string
	// Expand, if set, returns the documents that Each yields instead of a document.
	Expand func(*Document) []*Document
	// Skip, if set, reports whether the documents in a text are of no interest, so that Each need not decode them.
	Skip func(text []byte) bool

	form         form
	index, item  int
	line, column int // of text
	before       []byte
	text         []byte
	size         int64 // of a small file
	flow         bool  // the text may be YAML if it is not JSON
	unrelated    bool  // see Document.Unrelated
	err          error

	apiVersion, kind string // of a live object
}

type form uint8

const (
	failure form = iota // only err is set
	smallFile
	jsonValue
	jsonItem
	yamlDocument
	liveObject
	lostObjects // objects of a cluster that could not be read
)

// small is the size below which a file is read and split by the goroutine that decodes it. Larger
// files are split first.
const small = 1 << 20

// Scan yields the chunks of files, folders, and "-" (standard input), in order, until yield returns false. A path that
// cannot be read yields a chunk whose document has an error. Scan calls wait before each read that may block.
func Scan(stdin io.Reader, paths []string, wait func(), yield func(Chunk) bool) {
	Selection{}.Scan(stdin, paths, wait, yield)
}

// Scan is like the function Scan, but reads only the files of folders that s selects.
func (s Selection) Scan(stdin io.Reader, paths []string, wait func(), yield func(Chunk) bool) {
	for _, path := range paths {
		more := true
		switch {
		case path == "-" && s.Regular:
			more = yield(Chunk{File: path, err: errors.New("standard input: want a file or a folder")})
		case path == "-":
			more = split("-", stdin, wait, yield)
		default:
			more = walk(path, s, wait, yield)
		}
		if !more {
			return
		}
	}
}

// WithoutStdin returns the paths other than standard input.
func WithoutStdin(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return path == "-" })
}

// Split yields the chunks of r until yield returns false.
func Split(file string, r io.Reader, yield func(Chunk) bool) {
	head, err := io.ReadAll(io.LimitReader(r, small))
	if err == nil && len(head) < small {
		SplitText(file, head, yield)
		return
	}
	split(file, io.MultiReader(bytes.NewReader(head), r), func() {}, yield)
}

// SplitText yields the chunks of text until yield returns false. It reports whether yield always returned true.
// The chunks share memory with text, which must not change.
func SplitText(file string, text []byte, yield func(Chunk) bool) (more bool) {
	s := splitter{file: file, w: bytesWindow(text), yield: yield}
	return s.run()
}

func split(file string, r io.Reader, wait func(), yield func(Chunk) bool) bool {
	s := splitter{file: file, w: newWindow(r, wait), yield: yield}
	return s.run()
}

func walk(root string, s Selection, wait func(), yield func(Chunk) bool) bool {
	root = followed(root)
	w := walker{root: root, onlyRegular: s.Regular, wait: wait, yield: yield}
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

// A walker reads the file or folder at a path. Its methods, except close, report whether to continue.
type walker struct {
	root        string
	folder      *os.Root // root, opened when the first link is found
	onlyRegular bool

	wait  func()
	yield func(Chunk) bool
}

func (w *walker) close() {
	if w.folder != nil {
		w.folder.Close()
	}
}

func (w *walker) named() bool {
	info, err := os.Stat(w.root)
	switch {
	case err != nil:
		return w.lost(w.root, err)
	case info.Mode().IsRegular() && IsArchive(w.root):
		return w.archive()
	case info.Mode().IsRegular():
		return w.regular(w.root, info)
	case w.onlyRegular:
		return w.lost(w.root, regular(info))
	case !mayReadSpecialFile(w.root, info):
		return w.lost(w.root, fmt.Errorf("a link to %s: want a link to a regular file", kind(info.Mode())))
	}
	f, err := os.Open(w.root)
	return w.read(w.root, f, err)
}

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

// Readable reports whether a file may hold objects, according to its extension.
func Readable(path string) bool {
	switch filepath.Ext(path) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// Size returns the approximate number of bytes in the chunk.
func (c Chunk) Size() int {
	if c.form == smallFile {
		return int(max(1<<10, c.size))
	}
	return len(c.text)
}

// A Selection selects files of folders. Below the named folders, hidden folders and links to folders are not
// followed.
type Selection struct {
	// Exclude holds globs. A glob without a slash matches the name of a file or folder. A glob with a slash matches a
	// path, either as it is reported or relative to the folder. An excluded folder is not read.
	Exclude []string
	// Linked, if not nil, is called for links to folders, except hidden links.
	Linked func(path string)
	// Regular rejects each path that is neither a folder nor a regular file. Set it if a document or a script
	// chose the paths: reading a pipe or standard input could block forever.
	Regular bool
}

// Check returns an error if a glob is malformed.
func (s Selection) Check() error {
	for _, glob := range s.Exclude {
		if _, err := path.Match(glob, ""); err != nil {
			return fmt.Errorf("%q: %w: want names with *, ? and [a-z]", glob, err)
		}
	}
	return nil
}

// Excludes reports whether a glob excludes the file name below root, or a folder between them.
func (s Selection) Excludes(root, name string) bool {
	below, err := filepath.Rel(root, name)
	for ; err == nil && below != "." && !strings.HasPrefix(below, ".."); below = filepath.Dir(below) {
		if s.excludes(root, filepath.Join(root, below)) {
			return true
		}
	}
	return false
}

func (s Selection) leavesOut(root, name string, d fs.DirEntry) bool {
	return d.IsDir() && strings.HasPrefix(d.Name(), ".") || s.excludes(root, name)
}

// excludes is like Excludes, but ignores the folders between root and name.
func (s Selection) excludes(root, name string) bool {
	below, err := filepath.Rel(root, name)
	if err != nil {
		return false
	}
	for _, glob := range s.Exclude {
		glob = strings.TrimPrefix(strings.TrimSuffix(glob, "/"), "./")
		switch {
		case !strings.Contains(glob, "/"):
			if matches(glob, filepath.Base(name)) {
				return true
			}
		case matches(glob, filepath.ToSlash(below)) || matches(glob, filepath.ToSlash(filepath.Clean(name))):
			return true
		}
	}
	return false
}

func matches(glob, name string) bool {
	ok, err := path.Match(glob, name)
	return ok && err == nil
}

// unfollowed calls Linked if name is a link to a folder. Hidden links are ignored, because mounted
// ConfigMaps contain them.
func (s Selection) unfollowed(name string, d fs.DirEntry) {
	if s.Linked == nil || d.Type() != fs.ModeSymlink || strings.HasPrefix(d.Name(), ".") {
		return
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		s.Linked(name)
	}
}

// followed returns root, which the user named. If root is a link to a folder, the result makes
// filepath.WalkDir follow it.
func followed(root string) string {
	if info, err := os.Lstat(root); err != nil || info.Mode().Type() != fs.ModeSymlink {
		return root
	}
	if info, err := os.Stat(root); err == nil && info.IsDir() {
		return filepath.Clean(root) + string(filepath.Separator)
	}
	return root
}
