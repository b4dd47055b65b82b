//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/internal/testing/cputime"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

const (
	attackCPU    = 2 * time.Minute  // of processor time; an attack needs less than 10 seconds
	attackHang   = 10 * time.Minute // detects a process that waits without an end
	attackMemory = 512 << 20        // beyond a run on one small object
)

// resting is the memory of a run on one small object.
func attacked(t *testing.T, dir string, resting int64, args ...string) (out string, code int, peak int64) {
	t.Helper()
	return attackedThrough(t, dir, resting, "", args...)
}

func attackedThrough(t *testing.T, dir string, resting int64, stdin string, args ...string) (out string, code int, peak int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), attackHang)
	defer cancel()
	limited := fmt.Sprintf(`ulimit -t %d && exec celadon "$@"`, int(attackCPU.Seconds()))
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", limited, "sh"}, args...)...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	watched := make(chan int64)
	go func() {
		most := int64(0)
		for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
			now := highWater(cmd.Process.Pid)
			if now == 0 {
				break // it has exited
			}
			if most = max(most, now); most > resting+attackMemory {
				_ = cmd.Process.Kill()
				break
			}
		}
		watched <- most
	}()
	err := cmd.Wait()
	hangs := ctx.Err() != nil
	peak = <-watched
	used := cputime.Exited(cmd.ProcessState)
	t.Logf("celadon %s: exit code %d, %.1f s of processor, %d MiB beyond %d, %d bytes",
		strings.Join(args, " "), cmd.ProcessState.ExitCode(), used.Seconds(), (peak-resting)>>20, resting>>20, both.Len())
	switch {
	case hangs:
		t.Errorf("no exit within %s", attackHang)
	case used >= attackCPU:
		t.Errorf("more than %s of processor time", attackCPU)
	case peak > resting+attackMemory:
		t.Errorf("%d MiB are taken, want at most %d beyond %d", peak>>20, int64(attackMemory)>>20, resting>>20)
	case cmd.ProcessState.ExitCode() < 0:
		t.Errorf("%v", err)
	}
	return both.String(), cmd.ProcessState.ExitCode(), peak
}

// runMeasured runs a command and returns its peak memory. It measures while the command runs, because the
// peak memory that the system reports at the end is at least as high as the test process's.
func runMeasured(t *testing.T, cmd *exec.Cmd) (peak int64, err error) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	peaks := make(chan int64)
	go func() {
		most := int64(0)
		for now := int64(1); now > 0; time.Sleep(5 * time.Millisecond) {
			now = highWater(cmd.Process.Pid)
			most = max(most, now)
		}
		peaks <- most
	}()
	err = cmd.Wait()
	return <-peaks, err
}

func highWater(pid int) int64 {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(data), "VmHWM:")
	kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(strings.SplitN(after, "\n", 2)[0]), " kB"), 10, 64)
	return kib << 10
}

const attackObject = "apiVersion: g.io/v1\nkind: T\nmetadata: {name: a}\nspec:\n"

const attackCRD = attackCRDHead + "x-kubernetes-preserve-unknown-fields: true\n"

// attackCRDHead is a CRD up to the schema of its spec, which is indented by twelve spaces.
const attackCRDHead = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ts.g.io}
spec:
  group: g.io
  names: {kind: T, plural: ts, singular: t, listKind: TList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            `

type treeAttack struct {
	files map[string]string
	make  func(dir string) error // creates what files cannot describe
	args  []string               // of check, instead of the folder m
	code  int
	want  string // in the output
	long  bool   // too slow for every run of the tests
}

func one(text string) map[string]string { return map[string]string{"m/a.yaml": text} }

func pipe(name string) func(string) error {
	return func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, name), 0o600) }
}

// attacks returns functions that build the attacks one at a time, because some are large.
func attacks() map[string]func() treeAttack {
	r := strings.Repeat
	bomb := func(text string) string { return `x: &b "` + r("x", 1_000_000) + "\"\n" + text }
	// values contains the maximum number of values in one object.
	values := attackObject + "  l: [" + r(r("a,", 4000)+"\n    ", 255) + "a]\n"
	block := attackObject + "  l:\n" + r("  - a\n", 1_000_000)
	object := func(spec string) string {
		return `{"apiVersion":"g.io/v1","kind":"T","metadata":{"name":"a"},"spec":` + spec + "}\n"
	}
	return map[string]func() treeAttack{
		"a pipe": func() treeAttack {
			return treeAttack{make: pipe("m/a.yaml"), code: 2, want: "a named pipe: want a regular file"}
		},
		"a pipe as CRD": func() treeAttack {
			return treeAttack{make: pipe("crds/b.yaml"), code: 2, want: "a named pipe: want a regular file"}
		},
		"a pipe as config": func() treeAttack {
			return treeAttack{make: pipe(config.Name), code: 2, want: "a named pipe: want a regular file"}
		},
		"a pipe that the config names": func() treeAttack {
			return treeAttack{files: map[string]string{config.Name: "check: {objects: [p]}"}, make: pipe("p"), args: []string{}, code: 2, want: "p: want a regular file or a folder"}
		},
		"/dev/zero": func() treeAttack {
			return treeAttack{files: map[string]string{"m/a.yaml -> /dev/zero": ""}, code: 2, want: "path escapes"}
		},
		"/dev/zero by hand": func() treeAttack {
			return treeAttack{files: map[string]string{"m/a.yaml -> /dev/zero": ""}, args: []string{"m/a.yaml"}, code: 2, want: "a link to a device"}
		},
		"/dev/zero itself": func() treeAttack {
			return treeAttack{args: []string{"/dev/zero"}, code: 2, want: "a line of more than 16 MiB"}
		},
		"/dev/zero as config": func() treeAttack {
			return treeAttack{files: map[string]string{config.Name + " -> /dev/zero": ""}, code: 2, want: "a link out of the tree"}
		},
		"/dev/zero as --config": func() treeAttack {
			return treeAttack{args: []string{"--config", "/dev/zero", "m"}, code: 2, want: "more than 1024 KiB"}
		},
		"a secret elsewhere": func() treeAttack {
			return treeAttack{files: map[string]string{"m/a.yaml -> /proc/self/environ": "", "m/b.yaml": object("{}")}, code: 2, want: "path escapes"}
		},
		"aliases in an object": func() treeAttack {
			return treeAttack{files: one(bomb(attackObject + "  l: [" + r("*b,", 200_000) + "a]\n")), code: 2, want: "aliases are expanded"}
		},
		"aliases in a CRD": func() treeAttack {
			return treeAttack{files: map[string]string{"crds/b.yaml": bomb(attackCRD + "      additionalPrinterColumns: [" + r("*b,", 200_000) + "a]\n")}, code: 2, want: "aliases are expanded"}
		},
		"brackets without end": func() treeAttack {
			return treeAttack{files: one(r("{\"a\":[\n", 150_000)), code: 2, want: "the rest is not read"}
		},
		"items without end": func() treeAttack {
			return treeAttack{files: one("{\"apiVersion\":\"v1\",\"items\":[\n" + r("{\"a\":[\n", 150_000)), code: 2, want: "the rest is not read"}
		},
		"lists without end": func() treeAttack {
			return treeAttack{files: one(r("{\"kind\":\"List\",\"items\":[\n", 100_000)), code: 2, want: "the rest is not read"}
		},
		"a document without end": func() treeAttack {
			return treeAttack{files: one(attackObject + r("  # c\n  k: v\n", 6_000_000)), code: 2, want: "more than 32 MiB"}
		},
		"a line without end": func() treeAttack {
			return treeAttack{files: one(r("\x00", 200<<20)), code: 2, want: "a line of more than 16 MiB"}
		},
		"a string without end": func() treeAttack {
			return treeAttack{files: one(`{"a": "` + r("x", 200<<20)), args: []string{"m/a.yaml"}, code: 2, want: "the end was not found"}
		},
		"sixteen MiB of values": func() treeAttack {
			return treeAttack{files: one(attackObject + "  l: [" + r(r("a,", 4000)+"\n    ", 2000) + "a]\n"), code: 2, want: "values"}
		},
		"as many as may be": func() treeAttack { return treeAttack{files: one(values), code: 0, want: "1 valid"} },
		"two at a time":     func() treeAttack { return treeAttack{files: one(r(values+"---\n", 3)), code: 0, want: "3 valid"} },
		"on lines":          func() treeAttack { return treeAttack{files: one(r(block+"---\n", 2)), code: 0, want: "2 valid"} },
		"small objects": func() treeAttack {
			return treeAttack{files: one(r(object(`{"l":[`+r(`{"a":1},`, 340_000)+`0]}`), 4)), code: 0, want: "4 valid"}
		},
		"a List in YAML": func() treeAttack {
			return treeAttack{files: one("apiVersion: v1\nkind: List\nitems:\n" + r("- {apiVersion: g.io/v1, kind: T, metadata: {name: a}, spec: {a: b}}\n", 20_000)), code: 0, want: "20000 valid"}
		},
		"a List of duplicates": func() treeAttack {
			return treeAttack{files: one("apiVersion: v1\nkind: List\nx: {" + r("a: 1, ", 20_000) + "b: 1}\nitems:\n" + r("- {apiVersion: g.io/v1, kind: T, metadata: {name: a}, spec: {a: b}}\n", 10_000)), code: 1, want: "10000 invalid"}
		},
		"duplicate keys": func() treeAttack {
			return treeAttack{files: one(attackObject + r("  a:\n", 60_000)), code: 1, want: "1 invalid"}
		},
		"deep": func() treeAttack {
			return treeAttack{files: one(r("[", 1_000_000)), args: []string{"m/a.yaml"}, code: 2, want: "max depth"}
		},
		"deep JSON": func() treeAttack {
			return treeAttack{files: one(object(r(`{"a":`, 1_000_000) + "1" + r("}", 1_000_000))), code: 2, want: "not JSON"}
		},
		"deep but closed": func() treeAttack {
			return treeAttack{files: one(object(r(`{"a":`, 9_000) + "1" + r("}", 9_000))), code: 0, want: "1 valid"}
		},
		"a million separators": func() treeAttack {
			return treeAttack{files: one(r("---\n", 1_000_000)), code: 2, want: "the input has no objects"}
		},
		"a hundred thousand errors": func() treeAttack {
			return treeAttack{files: one(r("{\n", 100_000)), args: []string{"m/a.yaml"}, code: 2, want: "not JSON"}
		},
		"a hundred thousand errors in a folder": func() treeAttack {
			return treeAttack{files: map[string]string{"m/a.json": r("{\n", 100_000), "m/b.yaml": object("{}")}, code: 0, want: "1 valid"}
		},
		"an empty baseline entry": func() treeAttack {
			baseline := `{"kind":"Baseline","apiVersion":"celadon/v1","findings":[` + r("{},", 10_000_000) + "{}]}"
			return treeAttack{files: map[string]string{"m/a.yaml": object("{}"), "b.json": baseline}, args: []string{"--baseline", "b.json", "m"}, code: 2, want: "findings[0]: want object"}
		},
		"a long baseline": func() treeAttack {
			baseline := `{"kind":"Baseline","apiVersion":"celadon/v1","findings":[` + numbered(`{"file":"f%d","object":"o","reason":"r","count":1},`, 500_000) + `{"file":"f","object":"o","reason":"r","count":1}]}`
			return treeAttack{files: map[string]string{"m/a.yaml": object("{}"), "b.json": baseline}, args: []string{"--baseline", "b.json", "m"}, code: 2, want: "more than 250000 findings"}
		},
		"a CRD of many properties": func() treeAttack {
			return treeAttack{files: map[string]string{"crds/b.yaml": attackCRD + "            properties:\n" + numbered("              a%d: {}\n", 150_000)}, code: 2, want: "the limit of etcd"}
		},
		"a long name": func() treeAttack {
			return treeAttack{files: map[string]string{"m/" + r("n", 200) + ".yaml": object("{}")}, code: 0, want: "1 valid"}
		},
		"a deep folder": func() treeAttack {
			return treeAttack{files: map[string]string{"m/" + r("d/", 300) + "a.yaml": object("{}")}, code: 0, want: "1 valid"}
		},
		"a loop of folders": func() treeAttack {
			return treeAttack{files: map[string]string{"m/a.yaml": object("{}"), "m/loop -> ..": "", "m/self -> .": "", "m/x.yaml -> x.yaml": ""}, code: 2, want: "too many levels"}
		},
		"config with many aliases": func() treeAttack {
			return treeAttack{files: map[string]string{config.Name: "check: {crd: [" + r("&a x, ", 100) + r("*a,", 300_000) + "x]}\n"}, code: 2, want: "more than 1000 values"}
		},
		"a folder of many files": func() treeAttack {
			return treeAttack{make: manyFiles("m", 30_000), code: 0, want: "30000 valid", long: true}
		},
		"eight documents": func() treeAttack {
			return treeAttack{files: one(r(values+"---\n", 8)), code: 0, want: "8 valid", long: true}
		},
		"large strings": func() treeAttack {
			return treeAttack{files: one(r(attackObject+numbered("  k%d: \""+r("v", 1000)+"\"\n", 31_000)+"---\n", 5)), code: 0, want: "5 valid", long: true}
		},
	}
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func manyFiles(folder string, n int) func(string) error {
	return func(dir string) error {
		text := strings.TrimSuffix(attackObject, "\n") + " {}\n"
		err := os.WriteFile(filepath.Join(dir, "one"), []byte(text), 0o644)
		for i := 0; i < n && err == nil; i++ {
			err = os.Link(filepath.Join(dir, "one"), filepath.Join(dir, folder, fmt.Sprintf("%d.yaml", i)))
		}
		return err
	}
}

// CELADON_LEVEL=long adds trees that take long to create.
func TestAttackTree(t *testing.T) {
	small := tree(t, map[string]string{"m/a.yaml": goodCronTab})
	_, code, resting := attacked(t, small, 0, "check", "--crd", "crds", "m")
	if code != command.OK {
		t.Fatalf("exit code %d", code)
	}
	for name, make := range attacks() {
		t.Run(name, func(t *testing.T) {
			attack := make()
			if attack.long && !level.Long() {
				t.Skip("CELADON_LEVEL=long runs it")
			}
			dir := tree(t, map[string]string{"crds/t.yaml": attackCRD})
			if err := os.Mkdir(filepath.Join(dir, "m"), 0o755); err != nil {
				t.Fatal(err)
			}
			plant(t, dir, attack.files)
			if attack.make != nil {
				if err := attack.make(dir); err != nil {
					t.Fatal(err)
				}
			}
			args := attack.args
			if args == nil {
				args = []string{"m"}
			}
			out, code, _ := attacked(t, dir, resting, append([]string{"check", "--crd", "crds"}, args...)...)
			if code != attack.code || !strings.Contains(out, attack.want) {
				t.Errorf("exit code %d, want %d and %q in:\n%.2000s", code, attack.code, attack.want, out)
			}
		})
	}
}
