package input

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Selection says what of folders is read. Hidden folders never are, and neither
// are folders behind links.
type Selection struct {
	// Exclude are globs, each of one name below the folder, or where it has a
	// slash of a path, as it is reported or below the folder. A folder that is
	// excluded is not looked into.
	Exclude []string
	// Linked is told of links to folders, which are not followed; nil is nobody.
	Linked func(path string)
}

// Check finds globs that are none.
func (s Selection) Check() error {
	for _, glob := range s.Exclude {
		if _, err := path.Match(glob, ""); err != nil {
			return fmt.Errorf("%q: %w: want names with *, ? and [a-z]", glob, err)
		}
	}
	return nil
}

// Excludes says whether a glob leaves out a file below a folder, or a folder
// between them.
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

// excludes is Excludes for the name alone.
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

// unfollowed tells of a link to a folder. Those that are hidden are how a
// mounted ConfigMap is made.
func (s Selection) unfollowed(name string, d fs.DirEntry) {
	if s.Linked == nil || d.Type() != fs.ModeSymlink || strings.HasPrefix(d.Name(), ".") {
		return
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		s.Linked(name)
	}
}

// followed is a path that the user named, in a form that also walks a link to a
// folder.
func followed(root string) string {
	if info, err := os.Lstat(root); err != nil || info.Mode().Type() != fs.ModeSymlink {
		return root
	}
	if info, err := os.Stat(root); err == nil && info.IsDir() {
		return filepath.Clean(root) + string(filepath.Separator)
	}
	return root
}
