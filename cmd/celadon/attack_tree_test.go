package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

const goodCronTab = `apiVersion: stable.example.com/v1
kind: CronTab
metadata: {name: nightly}
spec: {schedule: "0 3 * * *", image: a}
`

// A name that ends in " -> TARGET" creates a link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	crd, err := os.ReadFile(crontabCRD)
	if err != nil {
		t.Fatal(err)
	}
	plant(t, dir, map[string]string{"crds/crd.yaml": string(crd)})
	plant(t, dir, files)
	return dir
}

func plant(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		name, target, link := strings.Cut(name, " -> ")
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if link {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func in(t *testing.T, dir string, args ...string) (out string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
	data, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(data), cmd.ProcessState.ExitCode()
}

func commit(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"git", "init", "-q"}, {"git", "add", "."}, {"git", "commit", "-qm", "all"}} {
		if out, code := in(t, dir, args...); code != 0 {
			t.Fatalf("%v: %s", args, out)
		}
	}
}

const missing = "0123456789012345678901234567890123456789"

// bareRepository returns files in the layout of a bare repository, so git takes the folder for a repository.
// Its configuration names commands that create marker, for example when an object is missing.
func bareRepository(under, marker string) map[string]string {
	return map[string]string{
		under + "HEAD":             "ref: refs/heads/main\n",
		under + "objects/.keep":    "",
		under + "refs/heads/.keep": "",
		under + "config": `[core]
	repositoryformatversion = 1
	bare = false
	worktree = .
	sshCommand = touch ` + marker + `; false
	fsmonitor = touch ` + marker + `; false
	hooksPath = .
	pager = touch ` + marker + `
	alternateRefsCommand = touch ` + marker + `
[extensions]
	partialClone = origin
[remote "origin"]
	url = ssh://x/y
	promisor = true
[protocol]
	allow = always
[protocol "ssh"]
	allow = always
`,
	}
}

func TestAttackBase(t *testing.T) {
	t.Parallel()
	marker := filepath.Join(t.TempDir(), "marker")
	dir := tree(t, map[string]string{"manifests/a.yaml": goodCronTab, "manifests/sub/b.yaml": goodCronTab})
	plant(t, dir, bareRepository("manifests/", marker))
	plant(t, dir, bareRepository("crds/", marker))
	commit(t, dir)
	for _, at := range []string{".", "manifests", "manifests/sub"} {
		up := strings.Repeat("../", strings.Count(filepath.Join("x", at), "/"))
		for _, rev := range []string{missing, "HEAD", "main", "refs/heads/main"} {
			for _, path := range []string{"manifests", "manifests/a.yaml", "manifests/gone.yaml", "."} {
				out, code := in(t, filepath.Join(dir, at), "celadon", "check", "--crd", up+"crds/crd.yaml", "--base", rev, filepath.Join(up+".", path))
				if code == command.Bug || code < 0 {
					t.Errorf("in %s, --base %s %s: exit code %d: %s", at, rev, path, code, out)
				}
				if rev == missing && !strings.Contains(out, "fetch it first: git fetch origin "+missing) {
					t.Errorf("in %s, --base %s %s: no suggestion in: %s", at, rev, path, out)
				}
				if _, err := os.Stat(marker); err == nil {
					t.Fatalf("in %s, --base %s %s ran a command of the tree's: %s", at, rev, path, out)
				}
			}
		}
	}
}
