// Package gitrevision reads files as of a git revision by running git. It uses no network and
// ignores configuration from the checked-out tree.
package gitrevision

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
)

// Read yields the chunks of the files at and below paths as of a revision. The files keep the names
// that they have below paths. A path that did not exist yields nothing.
func Read(ctx context.Context, rev string, paths []string, yield func(input.Chunk) error) error {
	known := map[string]revision{}
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
	var files []entry
	for _, e := range entries {
		below, err := filepath.Rel(filepath.FromSlash(rel), filepath.FromSlash(e.path))
		if err != nil {
			return err
		}
		if e.path = filepath.Join(path, below); e.regular() {
			files = append(files, e)
		}
	}
	return at.contents(ctx, files, func(name string, data io.Reader) (err error) {
		input.Split(name, data, func(c input.Chunk) bool {
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

// longest reads the longest of the paths that existed at a revision. found is "" if no path existed.
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
	err = at.contents(ctx, []entry{e}, func(_ string, content io.Reader) (err error) {
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

type entry struct{ mode, object, path string }

func (e entry) regular() bool { return strings.HasPrefix(e.mode, "100") }

const (
	// maxNames limits the bytes of file names that are held, enough for about a million files.
	maxNames = 64 << 20
	// maxName is longer than any path of any operating system.
	maxName = 64 << 10
)

var errNames = errors.New("more than 64 MiB of file names: name subfolders")

func (r revision) list(ctx context.Context, wanted func(name string) bool, paths ...string) ([]entry, error) {
	args := []string{"ls-tree", "-r", "-z", "--full-tree", r.commit, "--"}
	for _, path := range paths {
		if path != "." {
			args = append(args, ":(literal)"+path)
		}
	}
	p, err := r.start(ctx, "", args...)
	if err != nil {
		return nil, err
	}
	entries, err := readEntries(p, wanted)
	if err != nil {
		return nil, p.end(err)
	}
	if err := p.end(nil); err != nil {
		return nil, fetchFirst(r.rev, err)
	}
	return entries, nil
}

func readEntries(r io.Reader, wanted func(name string) bool) ([]entry, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxName)
	lines.Split(untilNUL)
	var entries []entry
	for names := 0; lines.Scan(); {
		e, ok := parseEntry(lines.Text())
		if !ok {
			return nil, fmt.Errorf("git ls-tree: %q: want a path with its object", lines.Text())
		}
		if !wanted(e.path) {
			continue
		}
		if names += len(e.path); names > maxNames {
			return nil, errNames
		}
		entries = append(entries, e)
	}
	return entries, lines.Err()
}

func untilNUL(data []byte, _ bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return i + 1, data[:i], nil
	}
	return 0, nil, nil
}

// parseEntry reads "100644 blob 0123… TAB path".
func parseEntry(line string) (entry, bool) {
	head, path, ok := strings.Cut(line, "\t")
	fields := strings.Fields(head)
	if !ok || len(fields) != 3 {
		return entry{}, false
	}
	return entry{fields[0], fields[2], path}, true
}

// contents reads files with a single git process. It requests them by object name, because a file
// name could be mistaken for another request.
func (r revision) contents(ctx context.Context, files []entry, read func(name string, data io.Reader) error) error {
	if len(files) == 0 {
		return nil
	}
	var names strings.Builder
	for _, f := range files {
		fmt.Fprintln(&names, f.object)
	}
	p, err := r.start(ctx, names.String(), "cat-file", "--batch")
	if err != nil {
		return err
	}
	for _, f := range files {
		if err = p.blob(f, read); err != nil {
			break
		}
	}
	if err = p.end(err); errors.Is(err, errMissing) || errors.Is(err, errGit) {
		return fmt.Errorf("%w: fetch it first: git fetch --refetch --no-filter origin %s", err, r.rev)
	}
	return err
}

// errMissing reports that a partial clone lacks a file's content. Some versions of git report it themselves.
var errMissing = errors.New("its content is not in the repository")

func (p *process) blob(f entry, read func(name string, data io.Reader) error) error {
	head, err := p.ReadString('\n')
	if err != nil {
		return err
	}
	fields := strings.Fields(head)
	if len(fields) == 2 && fields[1] == "missing" {
		return fmt.Errorf("%s: %w", f.path, errMissing)
	}
	if len(fields) != 3 || fields[1] != "blob" {
		return fmt.Errorf("git cat-file: %q: want a blob", strings.TrimSpace(head))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return fmt.Errorf("git cat-file: %q: want a size", strings.TrimSpace(head))
	}
	data := io.LimitReader(p, size)
	if err := read(f.path, data); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, data); err != nil {
		return err
	}
	_, err = p.Discard(1) // the line break after the content
	return err
}
