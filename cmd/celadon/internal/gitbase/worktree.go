package gitbase

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Top is the top of the git work tree that a folder stands in, "" where there
// is none: the nearest folder, at it or above, that has a .git. No git is
// asked: it would also take a folder laid out as a bare repository for one,
// and that is something that a commit can hold. A .git none can.
func Top(dir string) (string, error) {
	dir, err := resolve(dir)
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", nil
		}
		dir = parent
	}
}

// Inside is true for a path that stays in a folder when all links are followed,
// and out of what git keeps there.
func Inside(dir, path string) bool {
	dir, err1 := resolve(dir)
	path, err2 := resolve(path)
	rel, ok := below(dir, path)
	return err1 == nil && err2 == nil && ok && !strings.HasPrefix(rel+"/", ".git/")
}

// below is a path as its folder names it, with slashes.
func below(dir, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// home is the top of the work tree that a path stands in, and the path as git
// names it there. What counts is the work tree of the working directory, which
// is where the user went; for a path outside of it, or where there is none, the
// outermost one. In a work tree further down someone else's settings hold.
func home(path string) (top, rel string, err error) {
	path, err = resolve(path)
	if err != nil {
		return "", "", err
	}
	top, err = Top(".")
	if err != nil {
		return "", "", err
	}
	nearest, err := Top(path)
	if err != nil {
		return "", "", err
	}
	if _, ok := below(top, path); top == "" || !ok {
		if top, err = outermost(nearest); err != nil {
			return "", "", err
		}
	}
	rel, ok := below(top, path)
	switch {
	case nearest == "":
		return "", "", errors.New("not in a git work tree: want files or folders of one")
	case nearest != top || !ok:
		return "", "", fmt.Errorf("stands in a repository of its own: run celadon in %s", nearest)
	}
	return top, rel, nil
}

func outermost(top string) (string, error) {
	for {
		above, err := Top(filepath.Dir(top))
		if above == "" || above == top || err != nil {
			return top, err
		}
		top = above
	}
}

// resolve is an absolute path without links; what of it is not there stays as
// it is, for a path may be new, or gone.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for at, rest := path, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		found, err := filepath.EvalSymlinks(at)
		switch {
		case err == nil:
			return filepath.Join(found, rest), nil
		case !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at):
			return "", err
		}
	}
}
