// Package gitrevision reads files as of a git revision by running git. It uses no network and
// ignores configuration from the checked-out tree.
package gitrevision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
)

// Read yields the chunks of the files at and below paths as of a revision. The files keep the names
// that they have below paths. A path that did not exist yields nothing.
func Read(ctx context.Context, rev string, paths []string, yield func(input.Chunk) error) error {
	known := map[string]revision{} // by the repository's top folder
	for _, path := range paths {
		if err := read(ctx, rev, known, path, yield); err != nil {
			return fmt.Errorf("--base %s: %s: %w", rev, path, err)
		}
	}
	return nil
}

func read(ctx context.Context, rev string, known map[string]revision, path string, yield func(input.Chunk) error) error {
	top, rel, err := repositoryOf(path)
	if err != nil {
		return err
	}
	at, ok := known[top]
	if !ok {
		if at, err = (repository{top}).at(ctx, rev); err != nil {
			return err
		}
		known[top] = at
	}
	entries, err := at.list(ctx, func(name string) bool { return name == rel || input.Readable(name) }, rel)
	if err != nil {
		return err
	}
	var files []file
	for _, e := range entries {
		below, err := filepath.Rel(filepath.FromSlash(rel), filepath.FromSlash(e.path))
		if err != nil {
			return err
		}
		if e.regular() {
			files = append(files, file{object: e.object, name: filepath.Join(path, below)})
		}
	}
	return at.contents(ctx, files, func(f file, data io.Reader) (err error) {
		input.Split(f.name, data, func(c input.Chunk) bool {
			err = yield(c)
			return err == nil
		})
		return err
	})
}

// Nearest reads the file with the given name, as of a revision, in the working directory or the
// nearest folder above it, up to the top of the work tree. It returns the path relative to the
// working directory, or "" if the file does not exist. A file of more than limit bytes is an error.
func Nearest(ctx context.Context, rev, name string, limit int64) (found string, data []byte, err error) {
	top, rel, err := repositoryOf(".")
	if err == nil {
		candidates := []string{path.Join(rel, name)}
		for dir := rel; dir != "."; {
			dir = path.Dir(dir)
			candidates = append(candidates, path.Join(dir, name))
		}
		if found, data, err = longest(ctx, top, rev, limit, candidates); err != nil && found != "" {
			err = fmt.Errorf("%s: %w", found, err)
		}
	}
	if err == nil && found != "" {
		found, err = filepath.Rel(filepath.FromSlash(rel), filepath.FromSlash(found))
	}
	if err != nil {
		return "", nil, fmt.Errorf("--base %s: %w", rev, err)
	}
	return found, data, nil
}

// File reads a file of the work tree as of a revision. It returns nil if the file did not exist, and
// an error if it has more than limit bytes.
func File(ctx context.Context, rev, name string, limit int64) (data []byte, err error) {
	top, rel, err := repositoryOf(name)
	if err != nil {
		return nil, fmt.Errorf("--base %s: %w", rev, err)
	}
	if _, data, err = longest(ctx, top, rev, limit, []string{rel}); err != nil {
		return nil, fmt.Errorf("--base %s: %s: %w", rev, name, err)
	}
	return data, nil
}

// longest reads the longest of the paths that existed at a revision. found is "" if none of them did.
func longest(ctx context.Context, top, rev string, limit int64, paths []string) (found string, data []byte, err error) {
	at, err := repository{top}.at(ctx, rev)
	if err != nil {
		return "", nil, err
	}
	entries, err := at.list(ctx, func(name string) bool { return slices.Contains(paths, name) }, paths...)
	if err != nil || len(entries) == 0 {
		return "", nil, err
	}
	e := slices.MaxFunc(entries, func(a, b entry) int { return len(a.path) - len(b.path) })
	if !e.regular() {
		return e.path, nil, errors.New("not a regular file there")
	}
	err = at.contents(ctx, []file{{object: e.object, name: e.path}}, func(_ file, content io.Reader) (err error) {
		data, err = input.ReadAll(content, limit)
		return err
	})
	return e.path, data, err
}

var objectName = regexp.MustCompile(`^[0-9a-f]{40,64}$`)

// A revision is a revision of a repository, resolved to a commit once, so that all reads refer to the same commit.
type revision struct {
	repository
	rev, commit string
}

func (r repository) at(ctx context.Context, rev string) (revision, error) {
	if strings.HasPrefix(rev, "-") {
		return revision{}, fmt.Errorf("%q: want a git revision", rev)
	}
	p, err := r.start(ctx, "", "rev-parse", "--verify", "--quiet", "--end-of-options", rev)
	if err != nil {
		return revision{}, err
	}
	out, err := io.ReadAll(io.LimitReader(p, maxHead))
	if err = p.end(err); errors.Is(err, errGit) {
		return revision{}, err
	} else if err != nil {
		return revision{}, fetchFirst(rev, errNoRevision)
	}
	name := strings.TrimSpace(string(out))
	if !objectName.MatchString(name) {
		return revision{}, fmt.Errorf("git rev-parse: %q: want the name of an object", name)
	}
	return revision{r, rev, name}, nil
}

var errNoRevision = errors.New("no such revision")

// fetchFirst adds advice to an error about a revision that is not in the repository. Celadon does
// not fetch it, because that could run commands from the repository's settings.
func fetchFirst(rev string, err error) error {
	ref := strings.TrimPrefix(rev, "origin/")
	if strings.ContainsAny(ref, "~^:@.") || ref == "HEAD" {
		return fmt.Errorf("%w; in a shallow clone: git fetch --unshallow", err)
	}
	return fmt.Errorf("%w: fetch it first: git fetch origin %s", err, ref)
}

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
