//go:build unix

package repl

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/repl"
)

// The attacker in this file is the author of a tree in which a user starts the shell. The tree is repo, in a
// folder with other files of the user.

const secret = "TOP-SECRET"

func example(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile("../../../../examples/crontab/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// plant creates files in dir. A name that ends in " -> TARGET" creates a link, and one that ends in "|" a named pipe.
func plant(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name, target, link := strings.Cut(name, " -> ")
		name, fifo := strings.CutSuffix(name, "|")
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case err != nil:
		case link:
			err = os.Symlink(target, path)
		case fifo:
			err = syscall.Mkfifo(path, 0o600)
		default:
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func hostileTree(t testing.TB, crd, object string, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	plant(t, dir, map[string]string{
		"repo/.git/config": "token: " + secret, "repo/crd.yaml": crd, "repo/o.yaml": object,
		"out/secret": secret, "out/.bashrc": "# " + secret, "repo/fifo.yaml|": "", "repo/fifo.txt|": "",
	})
	plant(t, dir, files)
	switch t := t.(type) {
	case *testing.T:
		t.Chdir(filepath.Join(dir, "repo"))
		t.Setenv("HOME", dir)
		t.Setenv("KUBECONFIG", filepath.Join(dir, "none"))
	}
	return dir
}

func shell(t testing.TB, lines string) string {
	t.Helper()
	var out bytes.Buffer
	var o Options
	o.Flags(pflag.NewFlagSet("repl", pflag.ContinueOnError))
	o.CRD, o.Object, o.Echo, o.NoHistory = "crd.yaml", "o.yaml", true, true
	s := command.Streams{Stdin: strings.NewReader(lines), Stdout: &out, Stderr: &out}
	if err := Run(t.Context(), s, &o); err != nil {
		out.WriteString(err.Error() + "\n")
	}
	return out.String()
}

func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		all[path] = d.Type().String()
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() && info.Size() < 1<<20 {
			data, err := os.ReadFile(path)
			all[path] += string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func changes(t testing.TB, dir string, before map[string]string) (paths []string) {
	t.Helper()
	after := contents(t, dir)
	for path, text := range after {
		if before[path] != text && outsideOfTree(dir, path) {
			paths = append(paths, path)
		}
	}
	for path := range before {
		if _, ok := after[path]; !ok && outsideOfTree(dir, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

func outsideOfTree(dir, path string) bool {
	tree := filepath.Join(dir, "repo") + "/"
	return path+"/" != tree && (!strings.HasPrefix(path, tree) || strings.HasPrefix(path, tree+".git"))
}

func TestAttackShellFiles(t *testing.T) {
	crd, object := example(t, "crd.yaml"), example(t, "updates/nightly.yaml")
	links := map[string]string{
		"repo/link.yaml -> ../out/secret": "", "repo/config -> .git/config": "", "repo/folder/a": "", "repo/zero -> /dev/zero": "",
	}
	for name, c := range map[string]struct {
		lines string
		want  string
	}{
		"a link":             {":load link.yaml\n", "leads out of the work tree"},
		"git's files":        {":load config\n", "leads to git's own files"},
		"a pipe":             {":load crd fifo.yaml\n", "a named pipe"},
		"an object, a pipe":  {":load object fifo.yaml\n", "a named pipe"},
		"policies, a pipe":   {":load policy fifo.yaml\n", "a named pipe"},
		"standard input":     {":load -\n1 + 1\n", "standard input: want a file or a folder"},
		"a device":           {":load /dev/zero\n", "a device"},
		"a link to a device": {":load zero\n", "leads out of the work tree"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := hostileTree(t, crd, object, links)
			before := contents(t, dir)
			out := shell(t, c.lines)
			if !strings.Contains(out, c.want) || strings.Contains(out, secret) {
				t.Errorf("want %q in: %s", c.want, out)
			}
			if paths := changes(t, dir, before); len(paths) > 0 {
				t.Errorf("changed: %q", paths)
			}
		})
	}
}

func TestAttackShellPaste(t *testing.T) {
	crd, object := example(t, "crd.yaml"), example(t, "updates/nightly.yaml")
	for _, lines := range []string{
		"self.kind == \"\"\"\n:save! out.yaml\n\"\"\"\n",
		"('''\n:save! out.yaml\n''')\n",
		":explain r\"\"\"a\n:save! out.yaml\n\"\"\"\n",
		"[b'''\n'' \n:save! out.yaml\n''', // '''\n b'x']\n",
	} {
		hostileTree(t, crd, object, nil)
		out := shell(t, lines)
		if _, err := os.Stat("out.yaml"); err == nil || strings.Contains(out, "wrote") {
			t.Errorf("%q was written: %s", lines, out)
		}
	}
	// A command ends an expression that is unfinished for another reason.
	hostileTree(t, crd, object, nil)
	if out := shell(t, "(1 +\n:save out.yaml\n"); !strings.Contains(out, "wrote out.yaml") {
		t.Error(out)
	}
}

const maxShellOutput = 16 << 20

func FuzzShell(f *testing.F) {
	crd, object := example(f, "crd.yaml"), example(f, "updates/nightly.yaml")
	for _, lines := range []string{
		":load crd fifo.yaml\n", ":objects\n:object 0\n",
		":cd spec\n:add self == oldSelf\n:add env[*]: self == oldSelf\n:rules all\n:undo\n",
		":load policy .\n:policy\n", ":find 0 use\n:persisted diff\n:show\n",
		":load -\n", ":set preview off\nself\n",
	} {
		f.Add(lines, "crontabs", "copy.yaml", "../out/secret")
	}
	f.Add(":load a.yaml/.bashrc\n", ".git/hooks/x", "a.yaml", "../out")
	f.Fuzz(func(t *testing.T, lines, plural, link, target string) {
		if len(lines) > 4<<10 || strings.Contains(lines, ":sa") || strings.Contains(lines, ":find") && strings.Count(lines, ":") > 20 {
			return // a user may save anywhere, and a search has a budget of its own
		}
		hostile := strings.Replace(crd, "plural: crontabs", "plural: "+strings.ReplaceAll(plural, "\n", " "), 1)
		dir := hostileTree(t, hostile, object, nil)
		if name := filepath.Join("repo", strings.ReplaceAll(link, "\x00", "")); filepath.IsLocal(name) && len(name) < 200 && !strings.Contains(target, "\x00") {
			_ = os.Symlink(target, filepath.Join(dir, name)) // the name may be taken
		}
		before := contents(t, dir)
		out := shell(t, lines+"\n:rules\n")
		if len(out) > maxShellOutput || strings.Contains(out, "internal error") {
			t.Errorf("%d bytes: %.2000s", len(out), out)
		}
		if paths := changes(t, dir, before); len(paths) > 0 {
			t.Errorf("changed: %q", paths)
		}
	})
}

func TestAttackShellReload(t *testing.T) {
	crd, object := example(t, "crd.yaml"), example(t, "updates/nightly.yaml")
	sparse := func(size int64) func() error {
		return func() error { return errors.Join(os.WriteFile("crd.yaml", nil, 0o644), os.Truncate("crd.yaml", size)) }
	}
	large := strings.Repeat("# a comment\napiVersion: v1\nkind: A\nmetadata: {name: a}\ndata: "+strings.Repeat("x", 1<<16)+"\n---\n", 1500)
	for name, c := range map[string]struct {
		replace func() error
		want    string // in the reply to :load
	}{
		"a pipe":               {func() error { return syscall.Mkfifo("crd.yaml", 0o600) }, "a named pipe"},
		"a folder":             {func() error { return os.CopyFS("crd.yaml", os.DirFS(".git")) }, "0 CRDs: want one"},
		"a link to a folder":   {func() error { return os.Symlink("..", "crd.yaml") }, "leads out of the work tree"},
		"a link out of it":     {func() error { return os.Symlink("../out/crd.yaml", "crd.yaml") }, "leads out of the work tree"},
		"a link to git's":      {func() error { return os.Symlink(".git/config", "crd.yaml") }, "leads to git's own files"},
		"a link to itself":     {func() error { return os.Symlink("crd.yaml", "crd.yaml") }, "too many levels"},
		"a device":             {func() error { return os.Symlink("/dev/zero", "crd.yaml") }, "leads out of the work tree"},
		"a link to /proc":      {func() error { return os.Symlink("/proc/self/environ", "crd.yaml") }, "leads out of the work tree"},
		"nothing":              {func() error { return nil }, "no such file"},
		"a huge file":          {sparse(1 << 40), "a line of more than 16 MiB"},
		"many large documents": {func() error { return os.WriteFile("crd.yaml", []byte(large), 0o644) }, "more than 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := hostileTree(t, crd, object, map[string]string{"out/crd.yaml": strings.Replace(crd, "must be upper case", secret, 1)})
			h := &host{opened: true}
			s, err := repl.NewSession(repl.Config{Host: h.ofSession()})
			if err != nil {
				t.Fatal(err)
			}
			do := func(line, want string) {
				t.Helper()
				if reply := s.Do(t.Context(), line); !strings.Contains(reply.Text, want) || strings.Contains(reply.Text, secret) || len(reply.Text) > 1<<16 {
					t.Errorf("%s: want %q, got %.2000s", line, want, reply.Text)
				}
			}
			do(":load crd crd.yaml", "")
			do(":load o.yaml", "")
			before := contents(t, dir)
			if err := errors.Join(os.Remove("crd.yaml"), c.replace()); err != nil {
				t.Fatal(err)
			}
			var start, end runtime.MemStats
			runtime.ReadMemStats(&start)
			do(":load crd crd.yaml", c.want)
			do("self.kind", `"CronTab"`)
			if runtime.ReadMemStats(&end); end.TotalAlloc-start.TotalAlloc > 2<<30 {
				t.Errorf("%d MiB were allocated", (end.TotalAlloc-start.TotalAlloc)>>20)
			}
			if paths := changes(t, dir, before); len(paths) > 0 {
				t.Errorf("changed: %q", paths)
			}
			_ = os.RemoveAll("crd.yaml")
			plant(t, ".", map[string]string{"crd.yaml": strings.Replace(crd, "must have five fields", "other", 1)})
			do(":load crd crd.yaml", "")
			do(":cd spec", "")
		})
	}
}
