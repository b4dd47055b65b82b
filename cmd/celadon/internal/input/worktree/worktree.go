// Package worktree resolves paths and finds links that lead out of a git work tree.
//
// Any author of a commit can add symbolic links to a work tree. A link that leads out of the tree would make a command read
// or write files that the commit does not hold, so commands check each path that they were given:
//
//	err := worktree.CheckLinks(paths...)   // before reading
//	at, err := worktree.Locate("out.json") // before writing
package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Top returns the top of the git work tree that contains dir, or "" if no tree does. The top is the nearest folder, at or
// above dir, that contains .git. Top does not run git, because git also accepts a folder with the layout of a bare
// repository, and a commit can contain such a folder. A commit cannot contain .git.
func Top(dir string) (string, error) {
	dir, err := Resolve(dir)
	if err != nil {
		return "", err
	}
	return topOf(dir), nil
}

// topOf is Top for an absolute path without links.
func topOf(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, gitDir)); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

const gitDir = ".git"

// Inside reports whether path, with all links followed, is in dir and not in a .git folder.
func Inside(dir, path string) bool {
	dir, err1 := Resolve(dir)
	path, err2 := Resolve(path)
	return err1 == nil && err2 == nil && contains(dir, path)
}

// contains reports whether path is in dir and not in a .git folder. Both must be absolute paths without links.
func contains(dir, path string) bool {
	rel, ok := Rel(dir, path)
	if !ok {
		return false
	}
	for name := range strings.SplitSeq(rel, "/") {
		if strings.EqualFold(name, gitDir) { // some file systems ignore case
			return false
		}
	}
	return true
}

// Rel returns path relative to dir, with slashes, and reports whether path is at or below dir. It does not follow links.
func Rel(dir, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// Resolve returns the absolute path without links. Components that do not exist are kept, because a path may be new.
func Resolve(path string) (string, error) {
	r := resolver{top: func(string) string { return "" }}
	return r.resolve(path)
}

// An EscapeError reports a link that leads out of its tree, or into git's own files.
type EscapeError struct {
	Link   string // absolute path of the link
	Target string // absolute path that the link leads to
	Tree   string // absolute path of the tree
}

func (e *EscapeError) Error() string {
	link, ok := Rel(e.Tree, e.Link)
	if !ok {
		link = e.Link
	}
	if _, inside := Rel(e.Tree, e.Target); inside {
		return fmt.Sprintf("the link %s leads to git's own files (%s)", link, e.Target)
	}
	return fmt.Sprintf("the link %s leads out of the work tree %s (to %s)", link, e.Tree, e.Target)
}

// CheckLinks returns an error, which wraps an EscapeError, if a path goes through a link that is in a git work tree
// and leads out of it or into git's own files. It accepts links that are in no work tree, for example a link above
// its top. CheckLinks does not report paths that cannot be resolved: opening them fails.
func CheckLinks(paths ...string) error {
	r := newResolver(topOf)
	for _, path := range paths {
		if path == "" || path == "-" {
			continue
		}
		var escape *EscapeError
		if _, err := r.resolve(path); errors.As(err, &escape) {
			return fmt.Errorf("%s: %w", path, escape)
		}
	}
	return nil
}

// A Location is a resolved path.
type Location struct {
	Path string // absolute, without links
	Tree string // the tree that contains Path; "" outside all trees
}

// Locate resolves the path of a file or folder to be written. Its error wraps an EscapeError if the path goes through a link
// that leads out of the tree that contains the link. That tree is a git work tree, or else the working directory.
func Locate(path string) (Location, error) {
	here, err := workingDirectory()
	if err != nil {
		return Location{}, err
	}
	tree := func(dir string) string {
		if top := topOf(dir); top != "" {
			return top
		}
		if _, ok := Rel(here, dir); ok {
			return here
		}
		return ""
	}
	at, err := newResolver(tree).resolve(path)
	if err != nil {
		return Location{}, err
	}
	return Location{Path: at, Tree: tree(filepath.Dir(at))}, nil
}

const maxLinks = 255

// ErrLoop reports a path with too many links.
var ErrLoop = fmt.Errorf("too many links: %w", syscall.ELOOP)

// A resolver follows links individually. filepath.EvalSymlinks would not report where each of them is.
type resolver struct {
	here  string                  // the working directory, once it is known
	top   func(dir string) string // the tree that dir is in; "" outside all trees
	tops  map[string]string       // results of top by folder, because many paths share a link
	links int
}

func newResolver(top func(string) string) *resolver {
	r := &resolver{tops: map[string]string{}}
	r.top = func(dir string) string {
		known, ok := r.tops[dir]
		if !ok {
			known = top(dir)
			r.tops[dir] = known
		}
		return known
	}
	return r
}

func (r *resolver) resolve(path string) (_ string, err error) {
	r.links = 0
	if r.here == "" {
		if r.here, err = workingDirectory(); err != nil {
			return "", err
		}
	}
	return r.follow(r.here, path)
}

// workingDirectory returns the path without links, because the user has followed those in $PWD.
func workingDirectory() (string, error) {
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	return here, err
}

// follow resolves path from dir, an absolute path without links. It does not clean path, because the parent of a link's
// target is not the parent of the link.
func (r *resolver) follow(dir, path string) (string, error) {
	if path != "" && (filepath.IsAbs(path) || filepath.VolumeName(path) != "" || os.IsPathSeparator(path[0])) {
		volume := filepath.VolumeName(path)
		if volume == "" {
			volume = filepath.VolumeName(dir)
		}
		dir, path = volume+string(filepath.Separator), path[len(filepath.VolumeName(path)):]
	}
	for _, name := range strings.FieldsFunc(path, func(c rune) bool { return c < 0x80 && os.IsPathSeparator(uint8(c)) }) {
		switch name {
		case ".":
			continue
		case "..":
			dir = filepath.Dir(dir)
			continue
		}
		next, err := r.step(dir, name)
		if err != nil {
			return "", err
		}
		dir = next
	}
	return dir, nil
}

func (r *resolver) step(dir, name string) (string, error) {
	at := filepath.Join(dir, name)
	info, err := os.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return at, nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink == 0:
		return at, nil
	}
	target, err := os.Readlink(at)
	if err != nil {
		return "", err
	}
	if r.links++; r.links > maxLinks {
		return "", &fs.PathError{Op: "open", Path: at, Err: ErrLoop}
	}
	to, err := r.follow(dir, target)
	if err != nil {
		return "", err
	}
	if tree := r.top(dir); tree != "" && !contains(tree, to) {
		return "", &EscapeError{Link: at, Target: to, Tree: tree}
	}
	return to, nil
}
