package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// root is the module path of the main module.
const root = "github.com/celadon-cel/celadon"

// published lists the folders of the modules that others can require. Each gets a tag. "" is the
// main module, which is the only Celadon module that the others require.
var published = []string{"", "celadontest/fakeclient", "celadontest/remote", "celadonvet", "cmd/celadon", "cmd/celadon-gen"}

// tag creates the release commit on HEAD, and its tags. In the source tree, the other modules
// replace the main module by its folder. The go command ignores replacements in required modules,
// and does not install a command from a module that has any, so the release commit requires the
// main module at the released version instead. The main module does not contain the other modules,
// so their go.sum files can include its hash in the same commit.
func tag(repo, version string) error {
	if semver.Canonical(version) != version || semver.Major(version) != "v0" && semver.Major(version) != "v1" {
		return fmt.Errorf("%q: want a version such as v0.1.0", version) // v2 and later need another module path
	}
	if status, err := git(repo, "status", "--porcelain"); err != nil || status != "" {
		return errors.Join(err, fmt.Errorf("%s has changes: commit them first\n%s", repo, status))
	}
	sums, err := hashes(repo, version)
	if err != nil {
		return err
	}
	for _, dir := range published[1:] {
		if err := release(filepath.Join(repo, dir), version, sums); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	if _, err := git(repo, "commit", "--quiet", "--allow-empty", "--all", "--message", "Release "+version); err != nil {
		return err
	}
	for _, dir := range published {
		if _, err := git(repo, "tag", "--annotate", "--message", "Celadon "+version, path.Join(dir, version)); err != nil {
			return err
		}
	}
	return nil
}

// hashes returns the go.sum lines for the main module at HEAD.
func hashes(repo, version string) ([]string, error) {
	file, err := os.CreateTemp("", "celadon-*.zip")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if err := zip.CreateFromVCS(file, module.Version{Path: root, Version: version}, repo, "HEAD", ""); err != nil {
		return nil, err
	}
	all, err := dirhash.HashZip(file.Name(), dirhash.DefaultHash)
	if err != nil {
		return nil, err
	}
	goMod, err := dirhash.DefaultHash([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		text, err := git(repo, "show", "HEAD:go.mod")
		return io.NopCloser(strings.NewReader(text)), err
	})
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("%s %s %s\n", root, version, all), fmt.Sprintf("%s %s/go.mod %s\n", root, version, goMod)}, nil
}

// release changes the module in dir to require the main module instead of replacing it.
func release(dir, version string, sums []string) error {
	name := filepath.Join(dir, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := modfile.Parse(name, text, nil)
	if err != nil {
		return err
	}
	if len(f.Replace) == 0 {
		return nil // it does not depend on the main module
	}
	for _, r := range f.Replace {
		if r.Old.Path != root {
			return fmt.Errorf("replaces %s: only %s may be replaced", r.Old.Path, root)
		}
	}
	if err := errors.Join(f.DropReplace(root, ""), f.AddRequire(root, version)); err != nil {
		return err
	}
	f.Cleanup()
	if text, err = f.Format(); err != nil {
		return err
	}
	if err := os.WriteFile(name, text, 0o644); err != nil {
		return err
	}
	return addSums(filepath.Join(dir, "go.sum"), sums)
}

// addSums inserts the go.sum lines of the main module in the order of go mod tidy.
func addSums(name string, sums []string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	lines := slices.Collect(strings.Lines(string(text)))
	at, _ := slices.BinarySearchFunc(lines, root+" ", func(line, begin string) int { return strings.Compare(strings.SplitAfter(line, " ")[0], begin) })
	return os.WriteFile(name, []byte(strings.Join(slices.Insert(lines, at, sums...), "")), 0o644)
}

// git runs git in repo and returns its standard output.
func git(repo string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", repo}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), nil
}
