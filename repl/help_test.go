package repl

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/engine"
)

func TestHelpCoversCommands(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		text, _ := commandDetails(c.name)
		if n := strings.Count(text, ". ") + 1; n < 2 || n > 5 || !strings.HasSuffix(text, ".") {
			t.Errorf(":%s: want details with two to five sentences: %q", c.name, text)
		}
	}
	if blocks := strings.Count(helpTexts, "\n\n") + 1; blocks != len(commands()) {
		t.Errorf("%d commands have details, want %d", blocks, len(commands()))
	}
}

func TestHelpExamples(t *testing.T) {
	t.Parallel()
	files := []string{"load", "policy", "object"}
	for _, c := range commands() {
		_, line := commandDetails(c.name)
		if line == "" {
			continue
		}
		if name, _, _ := strings.Cut(line, " "); name != ":"+c.name {
			t.Errorf(":%s: the example is %s", c.name, line)
		}
		s := withCRD(t, helpSession(t, t.TempDir(), Config{}), "../examples/crontab/crd.yaml", "../examples/crontab/updates/nightly.yaml")
		must(t, s, ":set spec.replicas = 2")
		must(t, s, ":add self.spec.replicas <= 20")
		if text := must(t, s, ":help "+c.name); !strings.Contains(text, line) {
			t.Errorf(":help %s does not contain %q:\n%s", c.name, line, text)
		}
		reply := s.Do(t.Context(), line)
		if s.partial != "" || reply.Failed && !slices.Contains(files, c.name) {
			t.Errorf("%s: %s", line, reply.Text)
		}
	}
}

func helpSession(t *testing.T, dir string, cfg Config) *Session {
	t.Helper()
	cfg.Host = Host{
		Load: func(path string) ([]Document, error) {
			if _, err := os.Stat(path); err != nil {
				return nil, err
			}
			return readDocuments(t, path), nil
		},
		Save:        func(r SaveRequest) (string, error) { return filepath.Join(dir, filepath.Base(r.File)), nil },
		Files:       func(string) []string { return nil },
		Check:       func(context.Context, *engine.Engine, *Document, *Document) (string, error) { return "ok\n", nil },
		CheckStatus: func(context.Context, *engine.Engine, *Document, *Document) (string, error) { return "ok\n", nil },
	}
	s, err := NewSession(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func withCRD(t *testing.T, s *Session, crd, object string) *Session {
	t.Helper()
	if err := s.LoadCRD(readDocuments(t, crd)[0]); err != nil {
		t.Fatal(err)
	}
	if object != "" {
		if err := s.LoadObject(readDocuments(t, object)[0]); err != nil {
			t.Fatal(err)
		}
	}
	s.past = nil
	return s
}

func TestHelpWidths(t *testing.T) {
	t.Parallel()
	for _, width := range []int{40, 60, 80, 120} {
		s := crontab(t)
		must(t, s, ":cd spec")
		s.Width = width
		var b strings.Builder
		for _, line := range []string{":help", ":help add", ":funcs", ":funcs quantity", ":funcs version", ":funcs split", "self.replicas = 3", ":advice"} {
			fmt.Fprintf(&b, "> %s\n%s", line, s.Do(context.Background(), line).Text)
		}
		golden(t, fmt.Sprintf("testdata/help/%d.txt", width), b.String())
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-update rewrites it):\n%s", file, diff)
	}
}

func TestHelpAttacks(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	for _, s := range []*Session{crontab(t), helpSession(t, t.TempDir(), Config{})} {
		s.Width = 60
		for _, line := range []string{
			":help nonsense", ":help " + long, ":funcs " + long, ":funcs " + strings.Repeat("a ", 1<<19), ":" + long,
			"?", "x.?y?", "self.?", "\x1b[31mred", ":help \x1b[2J", ":funcs \x1b]0;title\x07", ":funcs \u202e", "self.spec['\x1b[2J']",
			"self[?", "&&?", "_", ":?", "::", ":help :", ":help ?", ":funcs ?", ":funcs ''",
		} {
			reply := s.Do(context.Background(), line)
			if s.partial != "" {
				reply = s.End(context.Background())
			}
			if len(reply.Text) > 40_000 || strings.ContainsAny(reply.Text, "\x1b\x07\u202e") || strings.Contains(reply.Text, "internal error") {
				t.Errorf("%.40q: %d bytes: %.200q", line, len(reply.Text), reply.Text)
			}
		}
	}
}
