package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
)

// A target is the destination of an output: a path below an open folder. In a work tree, the folder is the top of the
// tree, so the system itself rejects links out of the tree that are created after locate has checked.
type target struct {
	root   *os.Root
	rel    string // from root, without links
	inTree bool
}

func locate(name string) (*target, error) {
	at, err := resolve(name)
	if err != nil {
		return nil, err
	}
	dir := at.Tree
	if dir == "" {
		dir = filepath.Dir(at.Path)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, withoutPath(name, err)
	}
	rel, err := filepath.Rel(dir, at.Path)
	if err != nil {
		root.Close()
		return nil, withoutPath(name, err)
	}
	return &target{root: root, rel: rel, inTree: at.Tree != ""}, nil
}

func resolve(name string) (worktree.Location, error) {
	at, err := worktree.Locate(name)
	var escape *worktree.EscapeError
	if errors.As(err, &escape) {
		return at, fmt.Errorf("%s: %w: not written: remove the link, or name the file or folder that it leads to", name, escape)
	}
	return at, withoutPath(name, err)
}

func (t *target) close() {
	if t != nil {
		t.root.Close()
	}
}

// MkdirAll creates the folder name and its parents, as os.MkdirAll does.
func MkdirAll(name string, mode fs.FileMode) error {
	at, err := resolve(name)
	if err != nil {
		return err
	}
	if at.Tree == "" {
		return withoutPath(name, os.MkdirAll(at.Path, mode))
	}
	root, err := os.OpenRoot(at.Tree)
	if err != nil {
		return withoutPath(name, err)
	}
	defer root.Close()
	rel, err := filepath.Rel(at.Tree, at.Path)
	if err == nil {
		err = root.MkdirAll(rel, mode)
	}
	if errors.Is(err, fs.ErrExist) {
		err = syscall.ENOTDIR // as from os.MkdirAll
	}
	return withoutPath(name, err)
}

func (t *target) createTemp() (f *os.File, err error) {
	for range 10_000 {
		name := filepath.Join(filepath.Dir(t.rel), tempPrefix(t.rel)+strconv.FormatUint(uint64(rand.Uint32()), 10))
		f, err = t.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, err
}

func (t *target) tempPath(temp *os.File) string {
	return filepath.Join(filepath.Dir(t.rel), filepath.Base(temp.Name()))
}

// maxPrefix limits how much of a file's name tempPrefix uses, because the length of names is limited.
const maxPrefix = 100

// tempPrefix returns how the name of a temporary file for path begins. Digits follow.
func tempPrefix(path string) string {
	name := filepath.Base(path)
	return ".celadon-" + name[:min(len(name), maxPrefix)] + "-"
}

// Clean removes temporary files for name that were left by processes that were killed. A process that still writes such a
// file fails. Clean ignores errors, because Create reports them.
func Clean(name string) {
	at, err := locate(name)
	if err != nil {
		return
	}
	defer at.close()
	dir := filepath.Dir(at.rel)
	folder, err := at.root.Open(dir)
	if err != nil {
		return
	}
	defer folder.Close()
	entries, _ := folder.ReadDir(-1)
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), tempPrefix(at.rel))
		if ok && rest != "" && strings.Trim(rest, "0123456789") == "" && e.Type().IsRegular() {
			_ = at.root.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
