//go:build unix

package celadonvet_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/celadon-cel/celadon/celadonvet"
	"github.com/celadon-cel/celadon/internal/testing/hostile"
)

func TestAttackModule(t *testing.T) {
	t.Parallel()
	const text = "\x1b[31mPWNED \u202e ::error::x"
	quoted := strings.NewReplacer("\x1b", `\x1b`, "\u202e", `\u202e`).Replace(text)
	for name, attack := range map[string]struct {
		change func(dir string) error
		cfg    celadonvet.Config
		want   string // in a diagnostic or the error
	}{
		"a rule in the CRD": {func(dir string) error {
			return edit(filepath.Join(dir, "config/crd/app.yaml"), `rule: self.hosts.size() > 0`, `rule: "self.hosts.size() > 0 || '`+quoted+`' == ''"`)
		}, celadonvet.Config{}, "rule-without-marker"},
		"a name": {func(dir string) error {
			return edit(filepath.Join(dir, "config/crd/app.yaml"), "name: apps.example.com", `name: "`+quoted+`"`)
		}, celadonvet.Config{}, "PWNED"},
		"a file name": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "config/crd/\x1b[31m.yaml"), []byte("kind: CustomResourceDefinition\na: ["), 0o600)
		}, celadonvet.Config{}, "-crd: "},
		"a pipe": {func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "config/crd/pipe.yaml"), 0o600) },
			celadonvet.Config{CRDs: []string{"config/crd/pipe.yaml"}}, "not a regular file"},
		"pipes in folders": {func(dir string) error {
			return syscall.Mkfifo(filepath.Join(dir, "config/crd/pipe.yaml"), 0o600)
		}, celadonvet.Config{}, "undefined field 'bakc'"},
		"a link": {func(dir string) error { return os.Symlink("/etc/hostname", filepath.Join(dir, "config/crd/link.yaml")) },
			celadonvet.Config{CRDs: []string{"config/crd/link.yaml"}}, "escapes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "app")
			if err := os.CopyFS(dir, os.DirFS("testdata/app")); err != nil {
				t.Fatal(err)
			}
			if err := attack.change(dir); err != nil {
				t.Fatal(err)
			}
			list, err := diagnostics(t, celadonvet.New(attack.cfg), dir)
			if err != nil {
				list = append(list, err.Error())
			}
			all := strings.Join(list, "\n")
			if len(list) == 0 || !strings.Contains(all, attack.want) {
				t.Errorf("got %q, want %q", list, attack.want)
			}
			hostile.Harmless(t, name, []byte(all))
		})
	}
}

func edit(file, old, now string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !strings.Contains(string(data), old) {
		return os.ErrNotExist
	}
	return os.WriteFile(file, []byte(strings.ReplaceAll(string(data), old, now)), 0o600)
}
