//go:build linux

package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// inside runs a command with dir as its root file system, without network access and as an unprivileged
// user.
func inside(t *testing.T, dir string, args ...string) (string, int) {
	t.Helper()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = "/", []string{"PATH=/"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: dir, Cloneflags: syscall.CLONE_NEWNET}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65532, Gid: 65532}
	} else {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", args, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// readmeJob returns the first celadon check in the README, and its output.
func readmeJob(t *testing.T, readme string) (args []string, want string) {
	t.Helper()
	_, job, found := strings.Cut(readme, "\n$ celadon check ")
	line, want, _ := strings.Cut(job, "\n")
	want, _, end := strings.Cut(want, "$ ")
	if !found || !end || !strings.Contains(want, "objects checked") {
		t.Fatal("README.md shows no check")
	}
	return append([]string{"/celadon", "check"}, strings.Fields(line)...), want
}

func archiveHere(tree, version string) string {
	return filepath.Join(tree, "dist", fmt.Sprintf("celadon_%s_linux_%s.tar.gz", version[1:], runtime.GOARCH))
}

func testEmptyMachine(t *testing.T, tree, version string) {
	dir := t.TempDir()
	command(t, dir, nil, "tar", "-xzf", archiveHere(tree, version))
	args, want := readmeJob(t, string(read(t, dir, "README.md")))
	out, code := inside(t, dir, args...)
	if diff := cmp.Diff(want, out); diff != "" || code != 1 {
		t.Errorf("%v ends with %d (-README +here):\n%s", args, code, diff)
	}
	revision, err := git(tree, "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if out, code := inside(t, dir, "/celadon", "--version"); code != 0 || !strings.HasPrefix(out, "celadon v") || !strings.Contains(out, "\ncommit "+strings.TrimSpace(revision)+" of ") {
		t.Errorf("--version ends with %d: %s", code, out)
	}
}

func testImage(t *testing.T, tree, version string) {
	first, second := filepath.Join(t.TempDir(), "image"), filepath.Join(t.TempDir(), "image")
	for _, dir := range []string{first, second} {
		if err := writeImage(filepath.Join(tree, "dist"), dir); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(read(t, first, "index.json")), string(read(t, second, "index.json"))); diff != "" {
		t.Errorf("two images are not the same:\n%s", diff)
	}
	image := imageHere(t, first)
	dir := t.TempDir()
	unpackImage(t, image, dir)
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, config.Config.WorkingDir), os.DirFS(filepath.Join(tree, "examples", "crontab"))); err != nil {
		t.Fatal(err)
	}
	out, code := inside(t, dir, append(config.Config.Entrypoint, "check", "--crd", "/src/crd.yaml", "/src/objects")...)
	if code != 1 || !strings.Contains(out, "5 objects checked: 2 valid, 3 invalid") {
		t.Errorf("ends with %d: %s", code, out)
	}
	var many strings.Builder // so many that the report is buffered in /tmp
	for i := range 5000 {
		fmt.Fprintf(&many, "{\"apiVersion\":\"stable.example.com/v1\",\"kind\":\"CronTab\",\"metadata\":{\"name\":\"c%d\"},\"spec\":{\"schedule\":\"@daily\",\"image\":\"a:1\"}}\n", i)
	}
	if err := os.WriteFile(filepath.Join(dir, config.Config.WorkingDir, "many.json"), []byte(many.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	out, code = inside(t, dir, append(config.Config.Entrypoint, "check", "--crd", "/src/crd.yaml", "-o", "json", "/src/many.json")...)
	if code != 1 || !strings.Contains(out, `"invalid": 5000,`) {
		t.Errorf("a large report ends with %d: %.300s", code, out)
	}
	if config.Config.User != "65532:65532" || strings.Count(string(read(t, dir, "etc/ssl/certs/ca-certificates.crt")), "BEGIN CERTIFICATE") < 100 {
		t.Errorf("user %s, or too few authorities", config.Config.User)
	}
}

func imageHere(t *testing.T, dir string) v1.Image {
	t.Helper()
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range manifest.Manifests {
		if m.Platform.Architecture == runtime.GOARCH {
			image, err := index.Image(m.Digest)
			if err != nil {
				t.Fatal(err)
			}
			return image
		}
	}
	t.Fatalf("no image for %s in %v", runtime.GOARCH, manifest)
	return nil
}

func unpackImage(t *testing.T, image v1.Image, dir string) {
	t.Helper()
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		in, err := l.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		for r := tar.NewReader(in); ; {
			header, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(dir, header.Name)
			if header.Typeflag == tar.TypeDir {
				err = errors.Join(os.MkdirAll(name, 0o755), os.Chmod(name, header.FileInfo().Mode()))
			} else if data, readErr := io.ReadAll(r); readErr == nil {
				err = os.WriteFile(name, data, header.FileInfo().Mode())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := in.Close(); err != nil { // Close verifies the digest
			t.Fatal(err)
		}
	}
}

func testAction(t *testing.T, tree, version string) {
	releases, temp := t.TempDir(), t.TempDir()
	if err := os.Symlink(filepath.Join(tree, "dist"), filepath.Join(releases, version)); err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(read(t, tree, "action.yml")), "run: |\n")
	script, _, _ = strings.Cut(script, "  - name: check")
	arch := map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH]
	env := []string{"VERSION=" + version, "SHA256=", "RELEASES=file://" + releases, "RUNNER_OS=Linux", "RUNNER_ARCH=" + arch, "RUNNER_TEMP=" + temp, "GITHUB_PATH=" + filepath.Join(temp, "path")}
	command(t, temp, env, "bash", "-eo", "pipefail", "-c", script)
	installed := filepath.Join(strings.TrimSpace(string(read(t, temp, "path"))), "celadon")
	if out := command(t, temp, nil, installed, "--version"); !strings.HasPrefix(out, "celadon v") {
		t.Errorf("installed: %s", out)
	}
}
