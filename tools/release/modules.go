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

const root = "github.com/celadon-cel/celadon"

// published lists the folders of the modules that others can require. Each gets a tag.
var published = []string{"", "builtin", "celadontest/fakeclient", "celadonvet", "cmd/celadon"}

// required is ordered: each module requires only modules before it.
var required = []string{"", "builtin"}

// In the source tree, the other modules replace the main module by its folder. The go command ignores
// replacements in required modules, and does not install a command from a module that has any, so the
// release commit requires the main module at the released version instead. The main module does not
// contain the other modules, so their go.sum files can include its hash in the same commit. The same
// applies to the modules that require builtin, which is changed before its hash is computed.
func tag(repo, version string) error {
	if semver.Canonical(version) != version || semver.Major(version) != "v0" && semver.Major(version) != "v1" {
		return fmt.Errorf("%q: want a version such as v0.1.0", version) // v2 and later need another module path
	}
	if status, err := git(repo, "status", "--porcelain"); err != nil || status != "" {
		return errors.Join(err, fmt.Errorf("%s has changes: commit them first\n%s", repo, status))
	}
	commit := []string{"commit", "--quiet", "--allow-empty", "--all", "--message", "Release " + version}
	sums := map[string][]string{}
	change := func(dirs []string) error {
		for _, dir := range dirs {
			if err := release(filepath.Join(repo, dir), version, sums); err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
		}
		_, err := git(repo, commit...)
		return err
	}
	for _, dir := range required {
		err := change([]string{dir})
		if err != nil {
			return err
		}
		if sums[path.Join(root, dir)], err = hashes(repo, dir, version); err != nil {
			return err
		}
		commit = append(commit[:len(commit):len(commit)], "--amend")
	}
	others := slices.DeleteFunc(slices.Clone(published), func(dir string) bool { return slices.Contains(required, dir) })
	if err := change(others); err != nil {
		return err
	}
	for _, dir := range published {
		if _, err := git(repo, "tag", "--annotate", "--message", "Celadon "+version, path.Join(dir, version)); err != nil {
			return err
		}
	}
	return nil
}

func hashes(repo, dir, version string) ([]string, error) {
	module := module.Version{Path: path.Join(root, dir), Version: version}
	file, err := os.CreateTemp("", "celadon-*.zip")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if err := zip.CreateFromVCS(file, module, repo, "HEAD", dir); err != nil {
		return nil, err
	}
	all, err := dirhash.HashZip(file.Name(), dirhash.DefaultHash)
	if err != nil {
		return nil, err
	}
	goMod, err := dirhash.DefaultHash([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		text, err := git(repo, "show", "HEAD:"+path.Join(dir, "go.mod"))
		return io.NopCloser(strings.NewReader(text)), err
	})
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("%s %s %s\n", module.Path, version, all), fmt.Sprintf("%s %s/go.mod %s\n", module.Path, version, goMod)}, nil
}

// sums has the go.sum lines of Celadon's modules by path.
func release(dir, version string, sums map[string][]string) error {
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
	for _, r := range slices.Clone(f.Replace) {
		name := r.Old.Path
		if sums[name] == nil {
			return fmt.Errorf("replaces %s: only modules of Celadon that others require may be replaced", name)
		}
		err := errors.Join(f.DropReplace(name, ""), f.AddRequire(name, version), addSums(filepath.Join(dir, "go.sum"), name, sums[name]))
		if err != nil {
			return err
		}
	}
	f.Cleanup()
	if text, err = f.Format(); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

// addSums keeps the order of go mod tidy.
func addSums(name, module string, sums []string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	lines := slices.Collect(strings.Lines(string(text)))
	at, _ := slices.BinarySearchFunc(lines, module+" ", func(line, begin string) int { return strings.Compare(strings.SplitAfter(line, " ")[0], begin) })
	return os.WriteFile(name, []byte(strings.Join(slices.Insert(lines, at, sums...), "")), 0o644)
}

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
