//go:build linux

package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/module"
)

const goreleaser = "github.com/goreleaser/goreleaser/v2@v2.16.0"

// TestRelease makes a release from HEAD of a repository and uses it as its users would. It publishes
// nothing. Other modules come from the go command's usual proxy.
func TestRelease(t *testing.T) {
	repo := os.Getenv("CELADON_RELEASE")
	if repo == "" {
		t.Skip("CELADON_RELEASE names no repository: make -C tools/release check")
	}
	version := pseudoVersion(t, repo)
	tree := filepath.Join(t.TempDir(), "tree")
	command(t, repo, nil, "git", "clone", "--quiet", ".", tree)
	if err := tag(tree, version); err != nil {
		t.Fatal(err)
	}
	t.Run("modules", func(t *testing.T) { testModules(t, tree, version) })
	t.Run("archives", func(t *testing.T) { testArchives(t, tree, version) })
}

// The version is unique to the content of HEAD, because the go command caches the content of each version.
func pseudoVersion(t *testing.T, repo string) string {
	t.Helper()
	out, err := git(repo, "log", "-1", "--format=%H %cI")
	if err != nil {
		t.Fatal(err)
	}
	revision, date, _ := strings.Cut(strings.TrimSpace(out), " ")
	at, err := time.Parse(time.RFC3339, date)
	if err != nil {
		t.Fatal(err)
	}
	return module.PseudoVersion("", "", at, revision[:12])
}

// testModules tests examples/operator outside of the tree, as a project that requires the other modules.
func testModules(t *testing.T, tree, version string) {
	proxy := t.TempDir()
	if err := writeProxy(tree, version, proxy); err != nil {
		t.Fatal(err)
	}
	others := strings.TrimSpace(command(t, tree, nil, "go", "env", "GOPROXY"))
	bin := t.TempDir()
	env := []string{"GOPROXY=file://" + proxy + "," + others, "GONOSUMDB=" + root, "GOFLAGS=-modcacherw", "GOWORK=off", "GOBIN=" + bin, "PATH=" + bin + ":" + os.Getenv("PATH")}
	t.Cleanup(func() { forget(t, version) })
	for _, dir := range published {
		tidy := []string{"go", "mod", "tidy", "-diff"}
		if dir == "builtin" || dir == "cmd/celadon" { // which require k8s.io/kubernetes
			tidy = []string{filepath.Join(tree, "tools", "tidy.sh"), "-diff"}
		}
		command(t, filepath.Join(tree, dir), env, tidy[0], tidy[1:]...)
	}
	for _, path := range []string{"cmd/celadon", "celadonvet/cmd/celadonvet"} {
		command(t, t.TempDir(), env, "go", "install", "-trimpath", root+"/"+path+"@"+version)
	}
	if out := command(t, "", nil, filepath.Join(bin, "celadon"), "version"); !strings.HasPrefix(out, "celadon "+version+"\n") {
		t.Errorf("celadon version prints %s", out)
	}
	project := t.TempDir()
	if err := os.CopyFS(project, os.DirFS(filepath.Join(tree, "examples", "operator"))); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{root, root + "/celadontest/fakeclient"} {
		command(t, project, env, "go", "mod", "edit", "-dropreplace", path, "-require", path+"@"+version)
	}
	command(t, project, env, "go", "mod", "tidy")
	command(t, project, env, "go", "test", "./...")
}

func forget(t *testing.T, version string) {
	t.Helper()
	cache := strings.TrimSpace(command(t, "", nil, "go", "env", "GOMODCACHE"))
	for _, dir := range published {
		for _, name := range []string{filepath.Join(root, dir) + "@" + version, filepath.Join("cache", "download", root, dir, "@v", version)} {
			found, err := filepath.Glob(filepath.Join(cache, name) + "*")
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range found {
				if err := os.RemoveAll(name); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// testArchives builds the archives twice, in two folders.
func testArchives(t *testing.T, tree, version string) {
	bin := t.TempDir()
	command(t, bin, []string{"GOBIN=" + bin, "GOFLAGS="}, "go", "install", goreleaser)
	second := filepath.Join(t.TempDir(), "another", "place")
	command(t, tree, nil, "git", "clone", "--quiet", ".", second)
	for _, place := range []string{tree, second} {
		env := []string{"GORELEASER_CURRENT_TAG=" + version}
		command(t, place, env, filepath.Join(bin, "goreleaser"), "check")
		command(t, place, env, filepath.Join(bin, "goreleaser"), "release", "--skip=publish,sign", "--parallelism=1")
	}
	dist := filepath.Join(tree, "dist")
	for _, name := range []string{"checksums.txt", "krew/celadon.yaml", "homebrew/Casks/celadon.rb"} {
		if diff := cmp.Diff(string(read(t, dist, name)), string(read(t, second, "dist", name))); diff != "" {
			t.Errorf("%s: two builds are not the same:\n%s", name, diff)
		}
	}
	checkSums(t, dist)
	checkArchives(t, dist, version)
	t.Run("empty machine", func(t *testing.T) { testEmptyMachine(t, tree, version) })
	t.Run("image", func(t *testing.T) { testImage(t, tree, version) })
	t.Run("action", func(t *testing.T) { testAction(t, tree, version) })
}

func checkSums(t *testing.T, dist string) {
	t.Helper()
	krew, cask := string(read(t, dist, "krew/celadon.yaml")), string(read(t, dist, "homebrew/Casks/celadon.rb"))
	archives, bills := 0, 0
	for line := range strings.Lines(string(read(t, dist, "checksums.txt"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		got := sha256.Sum256(read(t, dist, name))
		if hex.EncodeToString(got[:]) != sum {
			t.Errorf("%s: another checksum", name)
		}
		if strings.HasSuffix(name, ".cdx.json") {
			bills++
			continue
		}
		archives++
		if !strings.Contains(krew, "sha256: "+sum) || !strings.Contains(krew, "/"+name) {
			t.Errorf("the krew manifest lacks %s", name)
		}
		if !strings.Contains(name, "windows") && !strings.Contains(cask, sum) {
			t.Errorf("the cask lacks %s", name)
		}
	}
	if !strings.Contains(cask, "if OS.mac?\n") || !strings.Contains(cask, `binary "celadon", target: "kubectl-celadon"`) {
		t.Errorf("the cask lacks the plugin or a part that only macOS needs:\n%s", cask)
	}
	if archives != 6 || bills != 6 {
		t.Errorf("got %d archives and %d lists of linked modules: want 6", archives, bills)
	}
}

func checkArchives(t *testing.T, dist, version string) {
	t.Helper()
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			name := fmt.Sprintf("%s/celadon_%s_%s_%s", dist, version[1:], system, arch)
			files, binary := unarchive(t, name)
			for _, want := range []string{"LICENSE", "NOTICES.txt", "README.md", "CHANGELOG.md", "completions/celadon.bash", "completions/_celadon",
				"completions/celadon.fish", "completions/celadon.ps1", "man/man1/celadon.1", "man/man1/celadon-check.1", "examples/crontab/crd.yaml", "examples/crontab/objects/bad.yaml"} {
				if len(files[want]) == 0 {
					t.Errorf("%s lacks %s", name, want)
				}
			}
			info, err := buildinfo.Read(bytes.NewReader(files[binary]))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			settings := map[string]string{}
			for _, s := range info.Settings {
				settings[s.Key] = s.Value
			}
			if settings["GOOS"] != system || settings["GOARCH"] != arch || settings["CGO_ENABLED"] != "0" || settings["-trimpath"] != "true" || settings["vcs.modified"] != "false" || settings["vcs.revision"] == "" {
				t.Errorf("%s was built with %v", name, settings)
			}
			t.Logf("%s: %d bytes, %d files", filepath.Base(name), len(files[binary]), len(files))
		}
	}
}

func unarchive(t *testing.T, name string) (files map[string][]byte, binary string) {
	t.Helper()
	if _, err := os.Stat(name + ".zip"); err == nil {
		return unzip(t, name+".zip"), "celadon.exe"
	}
	files, err := unpack(name + ".tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	return files, "celadon"
}

func unzip(t *testing.T, name string) map[string][]byte {
	t.Helper()
	r, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	files := map[string][]byte{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
		in.Close()
	}
	return files
}

func command(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, stderr.String())
	}
	if used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); used > 5*time.Second {
		t.Logf("%s %s: %.0f s of processor, %.0f s", filepath.Base(name), strings.Join(args, " "), used.Seconds(), time.Since(start).Seconds())
	}
	return string(out)
}
