package gitrevision

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

type entry struct{ mode, object, path string }

// regular reports whether the entry is a regular file, not a link or a submodule.
func (e entry) regular() bool { return strings.HasPrefix(e.mode, "100") }

const (
	// maxNames limits the bytes of file names that are held, enough for about a million files.
	maxNames = 64 << 20
	// maxName is longer than any path of any operating system.
	maxName = 64 << 10
)

var errNames = errors.New("more than 64 MiB of file names: name subfolders")

// list returns the entries at or below paths whose names are wanted.
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

// A file is an object of the repository with the name of the file in the work tree.
type file struct{ object, name string }

// contents reads files with a single git process. It requests them by object name, because a file
// name could be mistaken for another request.
func (r revision) contents(ctx context.Context, files []file, read func(file, io.Reader) error) error {
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

// blob reads a response of git cat-file --batch.
func (p *process) blob(f file, read func(file, io.Reader) error) error {
	head, err := p.ReadString('\n')
	if err != nil {
		return err
	}
	fields := strings.Fields(head)
	if len(fields) == 2 && fields[1] == "missing" {
		return fmt.Errorf("%s: %w", f.name, errMissing)
	}
	if len(fields) != 3 || fields[1] != "blob" {
		return fmt.Errorf("git cat-file: %q: want a blob", strings.TrimSpace(head))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return fmt.Errorf("git cat-file: %q: want a size", strings.TrimSpace(head))
	}
	data := io.LimitReader(p, size)
	if err := read(f, data); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, data); err != nil {
		return err
	}
	_, err = p.Discard(1) // the line break after the content
	return err
}
