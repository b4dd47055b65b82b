//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/internal/testing/cputime"
)

// fuzzArgs holds command lines. The first byte of a fuzzed tree selects one.
var fuzzArgs = [][]string{
	{"--crd", "crds", "m"},
	{"--crd", "crds", "-o", "json", "--verbose", "m"},
	{"--crd", "crds", "-o", "jsonl", "--verbose", "m"},
	{"--crd", "crds", "-o", "junit", "m"},
	{"--crd", "crds", "-o", "sarif", "m"},
	{"--crd", "crds", "-o", "github", "m"},
	{"--crd", "crds", "--old", "m", "--summary", "m"},
	{"--crd", "crds", "--crd-old", "crds", "m"},
	{"--crd", "m", "--quiet", "crds", "m"},
	{},
}

type entryKind byte

const (
	aFile entryKind = iota
	aFolder
	aLink
	aPipe
	aConfig
	aCRD
	entryKinds
)

// An entry is a file, folder, link, pipe, or other item of a fuzzed tree. It is encoded as its kind,
// the length of its name, the name, two bytes for the length of the content, and the content.
type entry struct {
	kind          entryKind
	name, content string
}

func (e entry) bytes() []byte {
	b := append([]byte{byte(e.kind), byte(len(e.name))}, e.name...)
	return append(binary.BigEndian.AppendUint16(b, uint16(len(e.content))), e.content...)
}

func parseEntries(data []byte) (entries []entry) {
	take := func(n int) string {
		n = min(n, len(data))
		taken := string(data[:n])
		data = data[n:]
		return taken
	}
	for len(data) > 2 && len(entries) < 50 {
		head := take(2)
		e := entry{kind: entryKind(head[0]) % entryKinds, name: take(int(head[1]))}
		if size := take(2); len(size) == 2 {
			e.content = take(int(binary.BigEndian.Uint16([]byte(size))))
		}
		entries = append(entries, e)
	}
	return entries
}

// build creates the entries that can be created, all of them below root.
func build(root *os.Root, entries []entry) {
	for _, e := range entries {
		// File systems reject longer names and these characters.
		name := strings.NewReplacer("\x00", "", "/", "-").Replace(e.name)
		if len(name) > 200 || name == "" {
			continue
		}
		switch e.kind {
		case aFile:
			_ = root.WriteFile("m/"+name, []byte(e.content), 0o644)
		case aFolder:
			_ = root.Mkdir("m/"+name, 0o755)
			_ = root.WriteFile("m/"+name+"/a.yaml", []byte(e.content), 0o644)
		case aLink:
			_ = root.Symlink(strings.ReplaceAll(e.content, "\x00", ""), "m/"+name)
		case aPipe:
			_ = syscall.Mkfifo(filepath.Join(root.Name(), "m", name), 0o600)
		case aConfig:
			_ = root.WriteFile(config.Name, []byte(e.content), 0o644)
		case aCRD:
			_ = root.WriteFile("crds/"+name, []byte(e.content), 0o644)
		}
	}
}

func listing(t *testing.T, dir string) string {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintf(&b, "%q %v %d %v\n", path, info.Mode(), info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const (
	fuzzCPU  = 20 * time.Second // of processor time
	fuzzHang = 5 * time.Minute
)

func FuzzCheck(f *testing.F) {
	crd, err := os.ReadFile(crontabCRD)
	if err != nil {
		f.Fatal(err)
	}
	for i, seed := range fuzzSeeds(string(crd)) {
		data := []byte{byte(min(i, len(fuzzArgs)-1))}
		for _, e := range seed {
			data = append(data, e.bytes()...)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 || len(data) > 64<<10 {
			return
		}
		dir := t.TempDir()
		t.Chdir(dir)
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		plant(t, dir, map[string]string{"crds/crd.yaml": string(crd), "m/.keep": "", ".git/HEAD": ""})
		build(root, parseEntries(data[1:]))
		before := listing(t, dir)
		args := fuzzArgs[int(data[0])%len(fuzzArgs)]
		out, code := ranToAnEnd(t, args)
		if code < command.OK || code > command.Usage || strings.Contains(out, "internal error") {
			t.Errorf("check %v: exit code %d\n%s", args, code, out)
		}
		if after := listing(t, dir); after != before {
			t.Errorf("check %v wrote:\n%s\nbefore:\n%s", args, after, before)
		}
		if most := 1<<20 + 200*len(data); len(out) > most {
			t.Errorf("check %v prints %d bytes, want at most %d", args, len(out), most)
		}
		if i := strings.IndexFunc(out, control); i >= 0 {
			t.Errorf("check %v prints %q", args, out[max(0, i-20):i+1])
		}
	})
}

func control(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }

func ranToAnEnd(t *testing.T, args []string) (out string, code int) {
	ctx, cancel := context.WithTimeout(t.Context(), fuzzHang)
	defer cancel()
	hang := time.AfterFunc(fuzzHang+time.Second, func() { panic(fmt.Sprintf("check %v hangs", args)) })
	defer hang.Stop()
	var both bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &both, stderr: &both}
	begun := cputime.Process()
	code = a.run(ctx, append([]string{"check"}, args...))
	if used := cputime.Process() - begun; used > fuzzCPU {
		t.Errorf("check %v: %s of processor time", args, used)
	}
	return both.String(), code
}

func fuzzSeeds(crd string) [][]entry {
	bomb := "x: &b \"" + strings.Repeat("x", 2000) + "\"\n"
	rejected := strings.Replace(goodCronTab, "image: a", "image: a, replicas: 11, env: [{name: a}]", 1)
	return [][]entry{
		{{aFile, "a.yaml", rejected}, {aCRD, "c.yaml", strings.ReplaceAll(crd, "self.replicas <= self.maxReplicas", "lists.range(340000).distinct().size() > self.replicas")}},
		{{aFile, "a.yaml", goodCronTab}, {aFile, "\x1b]0;x\a.yaml", "no object"}, {aFile, "b.json", `{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"\u001b[31m"},"spec":{}}`}},
		{{aFile, "\x1b]0;x\a.yaml", "no object"}, {aFile, "a\n::error::.yaml", "\xff"}},
		{{aPipe, "a.yaml", ""}, {aLink, "b.yaml", "/dev/zero"}, {aLink, "c.yaml", "../crds/crd.yaml"}, {aLink, "d.yaml", "d.yaml"}},
		{{aFolder, "d.yaml", goodCronTab}, {aLink, "loop", ".."}, {aLink, "e.yaml", "d.yaml/a.yaml"}, {aFolder, "..data", goodCronTab}},
		{{aFile, "a.yaml", bomb + "l: [" + strings.Repeat("*b,", 1000) + "a]\n"}, {aCRD, "b.yaml", bomb + crd}},
		{{aFile, "\x1b[2J.yaml", "no object"}, {aFile, "a.json", strings.Repeat("{\"a\":[\n", 200)}, {aFile, "b.json", "{\"apiVersion\":\"v1\",\"items\":[\n" + strings.Repeat("{\"a\":[\n", 200)}},
		{{aFile, "a.yaml", strings.Repeat("[", 11_000)}, {aFile, "b.yaml", strings.Repeat("- ", 11_000)}, {aFile, "c.yaml", "--- x\n---\n{\n---\n"}},
		{{aFile, "HEAD", "ref: refs/heads/main\n"}, {aFile, "config", "[core]\n\tbare = false\n"}, {aFolder, "objects", ""}, {aFolder, "refs", ""}},
		{{aCRD, "c.yaml", strings.ReplaceAll(crd, "self.", "self.self.")}, {aFile, "a.yaml", goodCronTab}},
		{{aConfig, "x", "check:\n  crd: crds\n  objects: m\n  strict-kinds: true\n"}, {aFile, "a.yaml", goodCronTab}},
		{{aConfig, "x", "check: {crd: crds, objects: m, base: HEAD}"}},
		{{aConfig, "x", "check: {crd: /dev/zero, objects: ..}"}},
		{{aConfig, "x", "check: &a [*a]"}},
	}
}
