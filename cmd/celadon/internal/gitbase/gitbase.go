// Package gitbase reads files as they were at a git revision, through the
// user's git and without network.
package gitbase

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
)

// Read gives what stood below the paths at a revision, under the names that the
// files have below them. A path that was not there has nothing.
func Read(ctx context.Context, rev string, paths []string, yield func(input.Chunk) error) error {
	if strings.HasPrefix(rev, "-") {
		return fmt.Errorf("--base %q: want a git revision", rev)
	}
	for _, path := range paths {
		if err := read(ctx, rev, path, yield); err != nil {
			return fmt.Errorf("--base %s: %s: %w", rev, path, err)
		}
	}
	return nil
}

func read(ctx context.Context, rev, path string, yield func(input.Chunk) error) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	dir, err := folder(abs)
	if err != nil {
		return err
	}
	top, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	root := strings.TrimRight(string(top), "\r\n")
	if abs, err = resolve(abs); err != nil {
		return err
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil || strings.HasPrefix(rel, "..") {
		return fmt.Errorf("not below the repository %s", root)
	}
	rel = filepath.ToSlash(rel)
	list := []string{"ls-tree", "-r", "-z", "--name-only", rev}
	if rel != "." {
		list = append(list, "--", ":(literal)"+rel)
	}
	names, err := git(ctx, root, list...)
	if err != nil {
		return err
	}
	var files []file
	for _, name := range strings.Split(string(names), "\x00") {
		if name == "" || name != rel && !input.Readable(name) || strings.Contains(name, "\n") {
			continue
		}
		below, err := filepath.Rel(rel, name)
		if err != nil {
			return err
		}
		files = append(files, file{blob: rev + ":" + name, name: named(path, below)})
	}
	return contents(ctx, root, files, yield)
}

// file is a file at the revision.
type file struct {
	blob string // as git knows it
	name string // as it would be called today, from the user's path on
}

func named(path, below string) string {
	if below == "." {
		return path
	}
	return filepath.Join(path, below)
}

// folder is a path's own folder, which may be the path itself.
func folder(abs string) (string, error) {
	if info, err := os.Stat(abs); err == nil && info.IsDir() {
		return abs, nil
	}
	return existing(filepath.Dir(abs))
}

// existing is the nearest folder that there is: a path may be new, or gone.
func existing(dir string) (string, error) {
	for {
		if found, err := filepath.EvalSymlinks(dir); err == nil {
			return found, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no such folder")
		}
		dir = parent
	}
}

// resolve is the path as git sees it.
func resolve(abs string) (string, error) {
	dir, err := existing(abs)
	if err != nil || dir == abs {
		return abs, err
	}
	for at := abs; ; at = filepath.Dir(at) {
		if found, err := filepath.EvalSymlinks(at); err == nil {
			rest, err := filepath.Rel(at, abs)
			return filepath.Join(found, rest), err
		}
	}
}

func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("git %s: %s", args[0], bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}

// contents reads files with one git process.
func contents(ctx context.Context, dir string, files []file, yield func(input.Chunk) error) error {
	if len(files) == 0 {
		return nil
	}
	cmd := exec.CommandContext(ctx, "git", "cat-file", "--batch")
	cmd.Dir = dir
	var ask strings.Builder
	for _, f := range files {
		fmt.Fprintln(&ask, f.blob)
	}
	cmd.Stdin = strings.NewReader(ask.String())
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	r := bufio.NewReader(out)
	for _, f := range files {
		if err = blob(r, f.name, yield); err != nil {
			break
		}
	}
	_, _ = io.Copy(io.Discard, r)
	return errors.Join(err, cmd.Wait())
}

// blob reads one answer of git cat-file --batch.
func blob(r *bufio.Reader, name string, yield func(input.Chunk) error) error {
	head, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	fields := strings.Fields(head)
	if len(fields) < 3 || fields[len(fields)-2] != "blob" {
		return nil // a submodule
	}
	size, err := strconv.ParseInt(fields[len(fields)-1], 10, 64)
	if err != nil {
		return fmt.Errorf("git cat-file: %q: want a size", strings.TrimSpace(head))
	}
	data := io.LimitReader(r, size)
	input.Split(name, data, func(c input.Chunk) bool {
		err = yield(c)
		return err == nil
	})
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, data); err != nil {
		return err
	}
	_, err = r.Discard(1) // the line break behind the content
	return err
}
