package gitrevision

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
)

const object = "kind: A\nname: %s\n"

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{
		"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always",
	}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func repo(t *testing.T, init ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git(t, dir, append([]string{"init", "-q"}, init...)...)
	for _, name := range []string{"old", "new"} {
		write(t, filepath.Join(dir, "m/a.yaml"), fmt.Sprintf(object, name))
		git(t, dir, "add", ".")
		git(t, dir, "commit", "-qm", name)
	}
	return dir
}

func seen(t *testing.T, rev string, paths ...string) ([]string, error) {
	t.Helper()
	var got []string
	err := Read(t.Context(), rev, paths, func(c input.Chunk) error {
		c.Each(func(d *input.Document) bool {
			got = append(got, fmt.Sprintf("%s %v %v", filepath.ToSlash(d.File), d.Object["name"], d.Err))
			return true
		})
		return nil
	})
	return got, err
}

func wants(t *testing.T, rev, path string, want ...string) {
	t.Helper()
	got, err := seen(t, rev, path)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("--base %s %s: %v (-want +got):\n%s", rev, path, err, diff)
	}
}

func rejected(t *testing.T, rev, path, want string) {
	t.Helper()
	got, err := seen(t, rev, path)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("--base %s %s: %v, error %v, want %q", rev, path, got, err, want)
	}
}

func TestRepositories(t *testing.T) {
	src := repo(t)
	git(t, src, "gc", "-q")
	dir := t.TempDir()
	git(t, dir, "clone", "-q", "--depth=1", "file://"+src, "shallow")
	git(t, dir, "clone", "-q", "--shared", src, "shared")
	git(t, src, "worktree", "add", "-q", filepath.Join(dir, "linked"), "HEAD~1")
	git(t, dir, "init", "-q", "super")
	git(t, filepath.Join(dir, "super"), "submodule", "--quiet", "add", src, "sub")
	for _, at := range []string{src, repo(t, "--object-format=sha256"), dir + "/shallow", dir + "/shared", dir + "/super/sub"} {
		t.Chdir(at)
		wants(t, "HEAD", "m", "m/a.yaml new <nil>")
		wants(t, "HEAD", "m/a.yaml", "m/a.yaml new <nil>")
		wants(t, "HEAD", "m/gone.yaml")
	}
	t.Chdir(dir + "/linked")
	wants(t, "HEAD", ".", "m/a.yaml old <nil>")
	wants(t, "main", ".", "m/a.yaml new <nil>")
	t.Chdir(dir)
	wants(t, "HEAD", "shallow/m", "shallow/m/a.yaml new <nil>")
	rejected(t, "HEAD", ".", "not in a git work tree")
	t.Chdir(dir + "/super")
	rejected(t, "HEAD", "sub/m", "is in another repository: run celadon in "+filepath.Join(dir, "super/sub"))
	wants(t, "HEAD", "../shallow/m", "../shallow/m/a.yaml new <nil>")
}

// TestNothingFetched checks that missing content is not fetched from a partial clone whose settings
// would run a command, or whose location comes from the environment.
func TestNothingFetched(t *testing.T) {
	src := repo(t)
	git(t, src, "config", "uploadpack.allowFilter", "true")
	dir, marker := t.TempDir(), filepath.Join(t.TempDir(), "marker")
	git(t, dir, "clone", "-q", "--filter=blob:none", "--no-checkout", "file://"+src, "partial")
	partial := filepath.Join(dir, "partial")
	for _, setting := range [][2]string{
		{"remote.origin.url", "ssh://x/y"},
		{"core.sshCommand", "touch " + marker + "; false"},
		{"core.fsmonitor", "touch " + marker + "; false"},
		{"core.pager", "touch " + marker},
		{"protocol.allow", "always"},
		{"protocol.ssh.allow", "always"},
	} {
		git(t, partial, "config", setting[0], setting[1])
	}
	t.Setenv("GIT_SSH_COMMAND", "touch "+marker+"; false")
	t.Setenv("GIT_DIR", src)
	t.Setenv("GIT_ALLOW_PROTOCOL", "ssh")
	t.Chdir(partial)
	rejected(t, "HEAD", "m", "fetch it first: git fetch --refetch --no-filter origin HEAD")
	rejected(t, "0123456789012345678901234567890123456789", "m", "fetch it first: git fetch origin 0123456789012345678901234567890123456789")
	if _, err := os.Stat(marker); err == nil {
		t.Error("a command was run")
	}
}

func TestWhatNoRevisionIs(t *testing.T) {
	t.Chdir(repo(t))
	for _, rev := range []string{"--output=x", "-h", "HEAD..main", "HEAD main", "HEAD\nmain", "^HEAD", ":m", "nothing"} {
		if got, err := seen(t, rev, "m"); err == nil {
			t.Errorf("--base %q: %v", rev, got)
		}
	}
}

func TestStrangeNames(t *testing.T) {
	dir := repo(t)
	t.Chdir(dir)
	names := []string{"m/-n.yaml", "m/:(glob)*.yaml", "m/a\nb.yaml", "m/b\tc.yaml", "m/\x1b[31m.yaml", "m/\xff.yaml", "m/HEAD:x.yaml"}
	for i, name := range names {
		write(t, name, fmt.Sprintf(object, fmt.Sprint(i)))
	}
	if err := os.Symlink("a.yaml", "m/link.yaml"); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "names")
	for i, name := range names {
		wants(t, "HEAD", name, fmt.Sprintf("%s %d <nil>", name, i))
	}
	if got, err := seen(t, "HEAD", "m"); len(got) != len(names)+1 || err != nil {
		t.Errorf("%d objects of %d files: %q %v", len(got), len(names)+1, got, err)
	}
}

func TestStopped(t *testing.T) {
	dir := repo(t)
	for i := range 300 {
		write(t, filepath.Join(dir, fmt.Sprintf("m/%d.yaml", i)), strings.Repeat(fmt.Sprintf(object, "x")+"---\n", 1000))
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "many")
	t.Chdir(dir)
	enough := errors.New("enough")
	if err := Read(t.Context(), "HEAD", []string{"m"}, func(input.Chunk) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("%v, want %v", err, enough)
	}
}

func TestNearest(t *testing.T) {
	dir := repo(t)
	write(t, filepath.Join(dir, "x"), "top")
	write(t, filepath.Join(dir, "m/x"), "m")
	write(t, filepath.Join(dir, "m/n/y"), strings.Repeat("y", 1025))
	if err := os.Symlink("y", filepath.Join(dir, "m/n/link")); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "x")
	write(t, filepath.Join(dir, "m/n/x"), "not committed")
	for _, test := range []struct{ at, name, path, data, err string }{
		{at: ".", name: "x", path: "x", data: "top"},
		{at: "m", name: "x", path: "x", data: "m"},
		{at: "m/n", name: "x", path: "../x", data: "m"},
		{at: "m/n", name: "z"},
		{at: "m/n", name: "y", path: "y", err: "more than 1 KiB"},
		{at: "m/n", name: "link", err: "not a regular file"},
	} {
		t.Chdir(filepath.Join(dir, test.at))
		path, data, err := Nearest(t.Context(), "HEAD", test.name, 1024)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s in %s: %v, want %s", test.name, test.at, err, test.err)
			}
			continue
		}
		if filepath.ToSlash(path) != test.path || string(data) != test.data || err != nil {
			t.Errorf("%s in %s: %q %q %v, want %q %q", test.name, test.at, path, data, err, test.path, test.data)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	env := repository{"/a/b"}.environment([]string{
		"PATH=/bin", "GIT_DIR=/x", "GIT_SSH=x", "GIT_TRACE=1", "GIT_CONFIG_PARAMETERS='core.sshCommand=x'", "GIT_CONFIG_GLOBAL=/g",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*", "GITHUB_SHA=1",
	})
	want := []string{
		"PATH=/bin", "GIT_CONFIG_GLOBAL=/g", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*", "GITHUB_SHA=1",
		"GIT_CEILING_DIRECTORIES=/a", "GIT_ALLOW_PROTOCOL=",
	}
	if diff := cmp.Diff(want, env[:len(want)]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTooManyNames(t *testing.T) {
	t.Parallel()
	line := "100644 blob " + strings.Repeat("0", 40) + "\t" + strings.Repeat("n", 60<<10) + "\x00"
	if _, err := readEntries(strings.NewReader(strings.Repeat(line, 1100)), func(string) bool { return true }); !errors.Is(err, errNames) {
		t.Errorf("%v, want %v", err, errNames)
	}
	long := strings.Replace(line, "\t", "\t"+strings.Repeat("n", maxName), 1)
	if _, err := readEntries(strings.NewReader(long), func(string) bool { return true }); err == nil {
		t.Error("a name of more than 64 KiB is taken")
	}
	entries, err := readEntries(strings.NewReader(strings.Repeat(line, 3)), func(name string) bool { return false })
	if err != nil || slices.ContainsFunc(entries, func(entry) bool { return true }) {
		t.Errorf("%v %v", entries, err)
	}
}
