//go:build unix

package test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

func TestAttackSuitePipes(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"crd: ../pipe.yaml", "policies: [../pipe.yaml]", "crd: pipe.yaml\npolicies: [pipe.yaml, ..]"} {
		dir := t.TempDir()
		suite := "kind: RuleTest\napiVersion: celadon/v1\n" + key + `
tests:
- name: a
  object: {apiVersion: g.io/v1, kind: T, metadata: {name: a}}
  expect: valid
`
		for _, err := range []error{
			os.Mkdir(filepath.Join(dir, "tests"), 0o755),
			syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600),
			syscall.Mkfifo(filepath.Join(dir, "tests", "pipe.yaml"), 0o600),
			os.WriteFile(filepath.Join(dir, "tests", "suite.yaml"), []byte(suite), 0o644),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		o := &Options{}
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		o.Flags(flags)
		if err := o.Check(flags, []string{dir}); err != nil {
			t.Fatal(err)
		}
		err := Run(t.Context(), command.Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out}, o, []string{dir})
		if err == nil || !strings.Contains(out.String(), "a named pipe: want a regular file") {
			t.Errorf("%s: %v: %s", key, err, out.String())
		}
	}
}
