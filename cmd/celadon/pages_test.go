package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

func TestPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	exampleCluster(t) // for pages that read a cluster
	ran := 0
	for _, page := range append(pages, "../../README.md") {
		t.Run(filepath.Base(page), func(t *testing.T) {
			data, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			steps := consoleSteps(data)
			for _, step := range steps {
				runStep(t, step)
			}
			ran += len(steps)
			if *update {
				rewritePage(t, page, data, steps)
			}
		})
	}
	if ran == 0 {
		t.Error("no page has a command")
	}
}

func TestCheckPageFlags(t *testing.T) {
	page, err := os.ReadFile("../../docs/check.md")
	if err != nil {
		t.Fatal(err)
	}
	checkCommand(command.Streams{}).Flags().VisitAll(func(f *pflag.Flag) {
		if !bytes.Contains(page, []byte("--"+f.Name)) && (f.Shorthand == "" || !bytes.Contains(page, []byte("`-"+f.Shorthand+" "))) {
			t.Errorf("docs/check.md does not name --%s", f.Name)
		}
	})
}

type step struct {
	line      int
	command   string
	want, got string
}

// consoleSteps parses the blocks that begin with ```console. Lines that begin with "$ " are commands, and the
// lines after a command are its output.
func consoleSteps(page []byte) []*step {
	var steps []*step
	var current *step
	inside := false
	n := 0
	for line := range strings.Lines(string(page)) {
		n++
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			inside, current = line == "```console", nil
		case !inside:
		case strings.HasPrefix(line, "$ "):
			current = &step{line: n, command: line[2:]}
			steps = append(steps, current)
		case current != nil && current.want == "" && strings.HasSuffix(current.command, "\\"):
			current.command += "\n" + line
		case current != nil:
			current.want += line + "\n"
		}
	}
	return steps
}

// runStep runs a command. It skips make, because the Makefile tests itself, and commands that download.
func runStep(t *testing.T, s *step) {
	t.Helper()
	if strings.HasPrefix(s.command, "make ") || strings.HasPrefix(s.command, "git clone") || strings.HasPrefix(s.command, "go install") {
		s.got = s.want
		return
	}
	cmd := exec.Command("bash", "-c", s.command)
	cmd.Dir = "../.."
	run := cmd.CombinedOutput
	if strings.HasPrefix(s.command, "celadon playground ") {
		run = func() ([]byte, error) { return firstAddress(cmd) }
	}
	out, err := run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("line %d: %v", s.line, err)
	}
	s.got = strings.ReplaceAll(string(out), "\t", "    ")
	if diff := cmp.Diff(s.want, s.got); diff != "" && !*update {
		t.Errorf("line %d: $ %s prints something else (-page +now; -update rewrites the page):\n%s", s.line, s.command, diff)
	}
}

// firstAddress returns the address that a program prints before it serves, without its port and token. It
// ends the program.
func firstAddress(cmd *exec.Cmd) ([]byte, error) {
	cmd.Args[2] = "exec " + cmd.Args[2]
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer cmd.Wait()
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	return regexp.MustCompile(`:\d+/.*`).ReplaceAll(line, []byte(":PORT/TOKEN/")), errors.Join(err, cmd.Process.Kill())
}

func rewritePage(t *testing.T, path string, page []byte, steps []*step) {
	t.Helper()
	text := string(page)
	for _, s := range steps {
		old := "$ " + s.command + "\n" + s.want
		text = strings.Replace(text, old, "$ "+s.command+"\n"+s.got, 1)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
