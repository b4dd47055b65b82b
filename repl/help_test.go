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
	"github.com/celadon-cel/celadon/x/assist"
)

// TestHelpCoversCommands checks that :help lists and describes every command.
func TestHelpCoversCommands(t *testing.T) {
	t.Parallel()
	var grouped []string
	for _, group := range commandGroups() {
		for _, c := range group.commands {
			grouped = append(grouped, c.name)
		}
	}
	if all := commandNames(nil); !slices.Equal(grouped, all) {
		t.Errorf(":help has %q, want %q", grouped, all)
	}
	for _, c := range commands() {
		d, ok := commandDetails()[c.name]
		if n := strings.Count(d.text, ". ") + 1; !ok || n < 2 || n > 5 || !strings.HasSuffix(d.text, ".") || d.examples == nil {
			t.Errorf(":%s: want details with two to five sentences and examples: %q", c.name, d.text)
		}
	}
}

// TestHelpExamples runs the examples of every command in order, in sessions without a CRD, with CRDs of
// the corpus at several paths, and with an object. An example may fail only if the text names a
// condition that is not met.
func TestHelpExamples(t *testing.T) {
	t.Parallel()
	sessions, ran, announced := 0, 0, 0
	for name, start := range helpSessions(t) {
		sessions++
		for _, c := range commands() {
			s := start(t)
			text := must(t, s, ":help "+c.name)
			d := commandDetails()[c.name]
			unmet := slices.ContainsFunc(d.needs, func(n need) bool { return !n.met(s) })
			if unmet {
				announced++
			}
			examples := d.examples(newSamples(s))
			if len(examples) == 0 || len(examples) > 2 {
				t.Errorf("%s: :%s has %d examples", name, c.name, len(examples))
			}
			for _, line := range examples {
				if !strings.Contains(text, line) {
					t.Errorf("%s: :help %s does not contain %q:\n%s", name, c.name, line, text)
				}
				if c.name == "find" && !strings.HasPrefix(name, "crontab") {
					continue // takes long for large schemas
				}
				reply := s.Do(context.Background(), line)
				if ran++; reply.Failed && !unmet && !(c.name == "fix" && strings.Contains(reply.Text, "no bounds")) {
					t.Errorf("%s: :help %s: %s: %s", name, c.name, line, reply.Text)
				}
				if s.partial != "" || strings.Contains(reply.Text, "internal error") {
					t.Errorf("%s: :help %s: %s: %q, %s", name, c.name, line, s.partial, reply.Text)
				}
			}
		}
	}
	t.Logf("%d sessions, %d examples ran; %d texts announced a condition", sessions, ran, announced)
	if ran < 40*sessions {
		t.Errorf("%d examples in %d sessions", ran, sessions)
	}
}

// helpSessions returns functions that start sessions, by name.
func helpSessions(t *testing.T) map[string]func(*testing.T) *Session {
	dir := t.TempDir()
	out := map[string]func(*testing.T) *Session{
		"no CRD": func(t *testing.T) *Session { return helpSession(t, dir, Config{}) },
		"no CRD, 1.28": func(t *testing.T) *Session {
			return helpSession(t, dir, Config{KubeVersion: "1.28"})
		},
		"crontab without an object": func(t *testing.T) *Session {
			return withCRD(t, helpSession(t, dir, Config{}), "../examples/crontab/crd.yaml", "")
		},
		"crontab": func(t *testing.T) *Session {
			s := withCRD(t, helpSession(t, dir, Config{}), "../examples/crontab/crd.yaml", "../examples/crontab/updates/nightly.yaml")
			must(t, s, ":cd spec")
			return s
		},
		"crontab, 1.29": func(t *testing.T) *Session {
			return withCRD(t, helpSession(t, dir, Config{KubeVersion: "1.29"}), "../examples/crontab/crd.yaml", "../examples/crontab/updates/nightly.yaml")
		},
	}
	hidden := filepath.Join(dir, "hidden.yaml")
	if err := os.WriteFile(hidden, []byte(hiddenCRD), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "spec", "spec.free", "spec.items[*]", "spec.a-b"} {
		out["hidden "+path] = func(t *testing.T) *Session {
			s := withCRD(t, helpSession(t, dir, Config{}), hidden, "")
			must(t, s, ":cd "+path)
			return s
		}
	}
	for i, file := range corpusCRDs(t) {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if i%16 != 0 || testing.Short() || info.Size() > largeCRD {
			continue
		}
		for _, deep := range []bool{false, true} {
			name := filepath.Base(file)
			if deep {
				name += " below"
			}
			out[name] = func(t *testing.T) *Session {
				s := withCRD(t, helpSession(t, dir, Config{}), file, "")
				if deep {
					moveToRule(t, s)
				}
				return s
			}
		}
	}
	return out
}

// hiddenCRD has a field that rules do not see, a list, and names that CEL escapes.
const hiddenCRD = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {
  group: example.com, scope: Namespaced, names: {kind: Thing, plural: things},
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
    free: {x-kubernetes-preserve-unknown-fields: true},
    items: {type: array, items: {type: string}, maxItems: 10},
    a-b: {type: object, x-kubernetes-validations: [{rule: "self == oldSelf"}], properties: {namespace: {type: boolean}}}}}}}}}]}}`

// moveToRule moves to the first path below the root that has rules.
func moveToRule(t *testing.T, s *Session) {
	t.Helper()
	version := s.state.crd.version(s.state.version)
	for _, steps := range editablePlaces(s.state.crd, version, nil, nil) {
		if node := assist.SchemaAt(s.state.crd.schema(s.state.version), steps); len(steps) > 0 && len(node.XValidations) > 0 {
			must(t, s, ":cd /"+engine.FormatPath(steps))
			return
		}
	}
}

// helpSession returns a session whose host reads real files and writes to dir.
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

// TestHelpWidths compares help texts at several widths with golden files.
func TestHelpWidths(t *testing.T) {
	t.Parallel()
	for _, width := range []int{40, 60, 80, 120} {
		s := crontab(t)
		must(t, s, ":cd spec")
		s.Width = width
		var b strings.Builder
		for _, line := range []string{":help", ":help add", ":funcs", ":funcs quantity", ":funcs version", ":funcs split", "env?", "self.replicas = 3", ":advice"} {
			fmt.Fprintf(&b, "> %s\n%s", line, s.Do(context.Background(), line).Text)
		}
		golden(t, fmt.Sprintf("testdata/help/%d.txt", width), b.String())
	}
}

// golden compares got with a file. With -update, it writes the file.
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

// TestHelpAttacks checks that hostile and malformed requests for help are bounded and printable.
func TestHelpAttacks(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	for _, s := range []*Session{crontab(t), helpSession(t, t.TempDir(), Config{})} {
		s.Width = 60
		for _, line := range []string{
			":help nonsense", ":help " + long, ":funcs " + long, ":funcs " + strings.Repeat("a ", 1<<19), long + "?", ":" + long + "?",
			"?", "??", "???", "x.?y?", "self.?", "?x", "x ?", "\x1b[31mred?", ":help \x1b[2J", ":funcs \x1b]0;title\x07", ":funcs \u202e", "self.spec['\x1b[2J']?",
			"self[?", "self['a']['b'][0]?", "()?", "?:?", "in?", "&&?", "self.spec.?replicas?", "_?", ":?", "::?", ":help :", ":help ?", ":funcs ?", ":funcs ''",
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
