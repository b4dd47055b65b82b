package celadon_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The lines have the format of oss-fuzz/targets.
func fuzzTargets(t *testing.T) (targets []string) {
	t.Helper()
	target := regexp.MustCompile(`(?m)^func (Fuzz\w*)\(`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{".git", "bin", "dist", "node_modules", "testdata"}, d.Name()) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(path)
		for _, match := range target.FindAllSubmatch(data, -1) {
			targets = append(targets, filepath.ToSlash(filepath.Dir(path))+" "+string(match[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(targets)
	return targets
}

func TestFuzzTargets(t *testing.T) {
	t.Parallel()
	listed, err := os.ReadFile("oss-fuzz/targets")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Join(fuzzTargets(t), "\n")+"\n", string(listed)); diff != "" {
		t.Errorf("oss-fuzz/targets (-functions +listed):\n%s", diff)
	}
}

// fakeCompiler lists the packages in $OUT/packages and makes empty targets. It fails as the real command
// does if a package has no such function.
const fakeCompiler = `#!/usr/bin/env bash
set -eu
dir=${1#github.com/celadon-cel/celadon/}
[ "$(cat ./*.go | grep -c "^func $2(f \*testing.F)")" = 1 ] || { echo "Could not find the function: $1 $2"; exit 0; }
echo "./$dir" >> "$OUT/packages"
touch "$OUT/$3"
`

// TestFuzzBuild runs the build script for OSS-Fuzz in a copy of the tree, with a fake compiler. It then
// compiles the packages that the script makes of external tests and of the command. The others are compiled
// by go vet, with their tests.
func TestFuzzBuild(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles packages")
	}
	temp := t.TempDir()
	src, out, bin := filepath.Join(temp, "src"), filepath.Join(temp, "out"), filepath.Join(temp, "bin")
	for _, dir := range []string{src, out, bin} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, script := range map[string]string{"compile_native_go_fuzzer_v2": fakeCompiler, "go": "#!/bin/sh\n"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tree := filepath.Join(src, "celadon")
	copyTargets(t, tree)
	cmd := exec.Command("bash", "oss-fuzz/build.sh")
	cmd.Env = append(os.Environ(), "SRC="+src, "OUT="+out, "PATH="+bin+":"+os.Getenv("PATH"))
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	overlay, packages := changedFiles(t, tree)
	data, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	built, err := os.ReadFile(filepath.Join(out, "packages"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range packages {
		if !strings.Contains(string(built), dir+"\n") {
			t.Errorf("%s is not a target", dir)
		}
	}
	if len(packages) < 10 {
		t.Errorf("the script makes the packages %v, want at least 10", packages)
	}
	if text, err := exec.Command("go", append([]string{"build", "-overlay", name}, packages...)...).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}

func copyTargets(t *testing.T, tree string) {
	t.Helper()
	dirs := []string{".", "oss-fuzz", "examples/crontab", "engine/x/eval/testdata", "x/publish/testdata"}
	for _, target := range fuzzTargets(t) {
		dir, _, _ := strings.Cut(target, " ")
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(tree, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !e.Type().IsRegular() {
				continue
			}
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err == nil {
				err = os.WriteFile(filepath.Join(tree, dir, e.Name()), data, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// changedFiles returns the Go files that the tree adds to the repository or changes in it, as an overlay,
// and the packages of the files that are not tests.
func changedFiles(t *testing.T, tree string) (overlay map[string]string, packages []string) {
	t.Helper()
	overlay = map[string]string{}
	err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(tree, path)
		if err != nil {
			return err
		}
		if old, err := os.ReadFile(rel); err == nil && string(old) == string(data) {
			return nil
		}
		here, err := filepath.Abs(rel)
		overlay[here] = path
		if !strings.HasSuffix(path, "_test.go") {
			packages = append(packages, "./"+filepath.ToSlash(filepath.Dir(rel)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(packages)
	return overlay, slices.Compact(packages)
}
