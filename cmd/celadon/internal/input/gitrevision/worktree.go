package gitrevision

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
)

// repositoryOf returns the top of the work tree that contains path, and the path relative to it. It uses
// the work tree of the working directory, because the user chose it. If path is outside that work
// tree, or there is none, repositoryOf uses the outermost work tree that contains path. Nested work trees
// are rejected, because other people control their settings.
func repositoryOf(path string) (top, rel string, err error) {
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
		return "", "", errors.New("not in a git work tree: want files or folders in a work tree")
	case nearest != top || !ok:
		return "", "", fmt.Errorf("is in another repository: run celadon in %s", nearest)
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
