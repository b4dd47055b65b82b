package gitrevision

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
)

// home is the top of the work tree that a path stands in, and the path as git
// names it there. What counts is the work tree of the working directory, which
// is where the user went; for a path outside of it, or where there is none, the
// outermost one. In a work tree further down someone else's settings hold.
func home(path string) (top, rel string, err error) {
	path, err = worktree.Resolve(path)
	if err != nil {
		return "", "", err
	}
	top, err = worktree.Top(".")
	if err != nil {
		return "", "", err
	}
	nearest, err := worktree.Top(path)
	if err != nil {
		return "", "", err
	}
	if _, ok := worktree.Rel(top, path); top == "" || !ok {
		if top, err = outermost(nearest); err != nil {
			return "", "", err
		}
	}
	rel, ok := worktree.Rel(top, path)
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
		above, err := worktree.Top(filepath.Dir(top))
		if above == "" || above == top || err != nil {
			return top, err
		}
		top = above
	}
}
