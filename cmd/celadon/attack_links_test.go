package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

// The attacker in this file commits links to a work tree. They lead out of it, or into .git, where a
// checkout can store a token.

func run(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	var b bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &b, stderr: &b}
	code = a.run(t.Context(), args)
	return b.String(), code
}

func eachCommand(cmd *cobra.Command, name string, do func(name string, cmd *cobra.Command)) {
	for _, sub := range cmd.Commands() {
		path := strings.TrimSpace(name + " " + sub.Name())
		do(path, sub)
		eachCommand(sub, path, do)
	}
}

const secret = "TOP-SECRET"

func outside(t *testing.T) (dir string) {
	t.Helper()
	dir = tree(t, map[string]string{
		"repo/.git/config":    "token: " + secret,
		"repo/plain/a.yaml":   goodCronTab,
		"outside/a.yaml":      strings.Replace(goodCronTab, "image: a", "image: "+secret, 1),
		"outside/text.yaml":   secret + ": [",
		"outside/sub/b.yaml":  goodCronTab,
		"outside/report.json": "before",
	})
	plant(t, dir, map[string]string{
		"repo/folder -> ../outside": "", "repo/a.yaml -> ../outside/a.yaml": "", "repo/text.yaml -> ../outside/text.yaml": "",
		"repo/absolute -> " + dir + "/outside": "", "repo/again -> folder": "", "repo/config.yaml -> .git/config": "", "repo/git -> .git": "",
		"repo/gone -> ../gone": "", "repo/inside -> plain": "",
		"repo/report.json -> ../outside/report.json": "", "repo/new.json -> ../outside/new.json": "",
	})
	return dir
}

// escaping lists paths in repo that go through a link.
var escaping = []string{"folder", "folder/sub", "a.yaml", "text.yaml", "absolute", "again", "config.yaml", "git", "plain/../folder", "inside/../folder"}

func rejected(out string, code int) bool {
	return code == command.Usage && (strings.Contains(out, "leads out of the work tree") || strings.Contains(out, "leads to git's own files"))
}

func TestAttackLinkedOperands(t *testing.T) {
	t.Parallel()
	dir := outside(t)
	follow := map[string][]string{"playground": {"--listen", "x"}} // it would wait for requests
	found := 0
	each := func(name string, arguments bool, flags *pflag.FlagSet) {
		before := strings.Fields(name)
		try := func(with func(path string) []string) {
			found++
			for _, path := range escaping {
				args := slices.Concat(before, with(dir+"/repo/"+path))
				if name == "eval" && !slices.Contains(args, "--expressions") {
					args = append(args, "1")
				}
				out, code := run(t, args...)
				if !rejected(out, code) || strings.Contains(out, secret) || !strings.Contains(out, "not read: remove the link, or pass --follow") {
					t.Errorf("%v: exit code %d: %s", args, code, out)
				}
				if path == "folder" {
					out, code := run(t, slices.Concat(args, follow[name], []string{"--follow"})...)
					if rejected(out, code) || code == command.Bug {
						t.Errorf("%v --follow: exit code %d: %s", args, code, out)
					}
				}
			}
		}
		if arguments {
			try(func(path string) []string { return []string{path} })
		}
		flags.VisitAll(func(f *pflag.Flag) {
			if command.IsOperand(f) {
				try(func(path string) []string { return []string{"--" + f.Name, path} })
			}
		})
	}
	takesPaths := []string{"check", "convert", "convert-crd", "diff", "docs", "explain", "find", "merge", "test", "vet"}
	eachCommand((&app{}).root(), "", func(name string, cmd *cobra.Command) {
		each(name, slices.Contains(takesPaths, name), cmd.Flags())
	})
	if found < 40 {
		t.Errorf("%d flags and arguments: where are the others?", found)
	}

	// Links that stay in the tree, and links above it, are followed.
	plant(t, dir, map[string]string{"above -> repo": ""})
	for _, path := range []string{"inside", "inside/a.yaml", "plain/a.yaml", "../above/plain", "../outside/a.yaml"} {
		if out, code := run(t, "check", "--crd", dir+"/crds", dir+"/repo/"+path); code != command.OK {
			t.Errorf("%s: exit code %d: %s", path, code, out)
		}
	}
	// Relative paths, from the top and from below it.
	for at, path := range map[string]string{"repo": "folder", "repo/plain": "../a.yaml"} {
		if out, code := in(t, filepath.Join(dir, at), "celadon", "check", "--crd", dir+"/crds", path); !rejected(out, code) {
			t.Errorf("%s in %s: exit code %d: %s", path, at, code, out)
		}
	}
	// A file that the user named with --config names a link.
	plant(t, dir, map[string]string{"by-hand.yaml": "check: {objects: repo/a.yaml}"})
	args := []string{"check", "--config", dir + "/by-hand.yaml", "--crd", dir + "/crds"}
	if out, code := run(t, args...); !rejected(out, code) || strings.Contains(out, secret) {
		t.Errorf("--config: exit code %d: %s", code, out)
	}
	if out, code := run(t, append(args, "--follow")...); code != command.OK {
		t.Errorf("--config --follow: exit code %d: %s", code, out)
	}
}

// notOperands lists flags whose values look like paths of files to read, but are not.
var notOperands = []string{"eval --at", "find --at", "convert test --ignore"}

// outputs maps each flag that names a file to write, or a folder if the value ends in /, to a command
// line that writes it.
var outputs = map[string][]string{
	"check --out":          {"check", "--crd", crontabCRD, "../../examples/crontab/objects"},
	"check --baseline-out": {"check", "--crd", crontabCRD, "../../examples/crontab/objects"},
	"merge --out":          {"merge"},
	"merge --baseline-out": {"merge"},
	"test init --out/":     {"test", "init", "--crd", crontabCRD},
	"docs --out/":          {"docs", "--crd", crontabCRD, "--steps", "50"},
}

// TestEachPathIsClassified fails for each flag with a path that the attacks in this file do not cover.
func TestEachPathIsClassified(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for name := range outputs {
		known[strings.TrimSuffix(name, "/")] = true
	}
	for _, name := range notOperands {
		known[name] = true
	}
	eachCommand((&app{}).root(), "", func(of string, cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			value, _ := pflag.UnquoteUsage(f)
			name := of + " --" + f.Name
			path := slices.Contains([]string{"PATH", "FILE", "DIR", "SAMPLES", "FILE.json"}, value) || strings.HasSuffix(f.Name, "out")
			if path && f.Name != "timeout" && !command.IsOperand(f) && !known[name] {
				t.Errorf("%s is a path: declare it with command.Operands if the command reads it, or add it to outputs", name)
			}
			delete(known, name)
		})
	})
	for name := range known {
		t.Errorf("%s: no such flag", name)
	}
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var data []byte
			data, err = os.ReadFile(path)
			all[path] = string(data)
		} else if err == nil && d.IsDir() {
			all[path] = "a folder"
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAttackLinkedOutputs(t *testing.T) {
	t.Parallel()
	part := filepath.Join(t.TempDir(), "part.jsonl")
	if out, code := run(t, "check", "--crd", crontabCRD, "-o", "jsonl", "--shard", "0/1", "--run", "x", "--out", part, "../../examples/crontab/objects"); code != command.Findings {
		t.Fatalf("exit code %d: %s", code, out)
	}
	for name, args := range outputs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := outside(t)
			_, flag, _ := strings.Cut(name, " --")
			if args[0] == "merge" {
				args = append(slices.Clone(args), part)
			}
			folder := strings.HasSuffix(flag, "/")
			flag = "--" + strings.TrimSuffix(flag, "/")
			before := files(t, dir)
			paths := []string{"report.json", "new.json", "folder/report.json", "folder/new.json", "again/sub/new.json", "absolute/new.json", "git/new.json", "inside/../folder/new.json"}
			if folder {
				paths = []string{"folder", "folder/new", "folder/sub/new/deep", "again", "absolute", "git", "gone", "gone/new"}
			}
			for _, path := range paths {
				out, code := run(t, slices.Concat(args, []string{flag, dir + "/repo/" + path})...)
				if !rejected(out, code) || !strings.Contains(out, "not written: remove the link, or name the file or folder that it leads to") {
					t.Errorf("%s: exit code %d: %s", path, code, out)
				}
			}
			after := files(t, dir)
			for path, text := range after {
				if before[path] != text {
					t.Errorf("%s was written", path)
				}
			}
			if len(after) != len(before) {
				t.Errorf("files were removed: got %d, want %d", len(after), len(before))
			}
			path := "inside/new.json"
			if folder {
				path = "inside/new"
			}
			if out, code := run(t, slices.Concat(args, []string{flag, dir + "/repo/" + path})...); code == command.Usage || code == command.Bug {
				t.Errorf("a link in the tree: exit code %d: %s", code, out)
			}
			if _, err := os.Stat(dir + "/repo/plain/" + filepath.Base(path)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAttackLinkedEdits(t *testing.T) {
	t.Parallel()
	dir := outside(t)
	data, err := os.ReadFile("../../examples/costly/crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	plant(t, dir, map[string]string{"outside/costly.yaml": string(data), "repo/costly/crd.yaml -> ../../outside/costly.yaml": "", "repo/pages/crontabs.stable.example.com.md -> ../../outside/page.md": ""})
	before := files(t, dir)
	for _, args := range [][]string{
		{"vet", "--fix", dir + "/repo/costly/crd.yaml"},
		{"vet", "--fix", "--follow", dir + "/repo/costly/crd.yaml"}, // read, but not written
		{"vet", "--fix", dir + "/repo/costly"},                      // a link below a folder
		{"docs", "--crd", crontabCRD, "--steps", "50", "--out", dir + "/repo/pages"},
	} {
		if out, code := run(t, args...); code != command.Usage {
			t.Errorf("%v: exit code %d: %s", args, code, out)
		}
	}
	for _, line := range []string{":load " + dir + "/repo/a.yaml", ":save! " + dir + "/repo/new.json", ":save " + dir + "/repo/folder/new"} {
		var b bytes.Buffer
		a := &app{stdin: strings.NewReader(line + "\n"), stdout: &b, stderr: &b}
		a.run(t.Context(), []string{"repl", "--crd", crontabCRD})
		if !strings.Contains(b.String(), "leads out of the work tree") || strings.Contains(b.String(), secret) {
			t.Errorf("%s: %s", line, b.String())
		}
	}
	after := files(t, dir)
	for path, text := range after {
		if before[path] != text {
			t.Errorf("%s was written", path)
		}
	}
}
