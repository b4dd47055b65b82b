package input

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A Selection selects files of folders. Hidden folders and links to folders are never followed.
type Selection struct {
	// Exclude holds globs. A glob without a slash matches the name of a file or folder. A glob with
	// a slash matches a path, either as it is reported or relative to the folder. An excluded folder
	// is not read.
	Exclude []string
	// Linked, if not nil, is called for links to folders, which are not followed.
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

// excludes reports whether a glob excludes name itself. It ignores the folders between root and name.
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
