package repl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/engine"
)

func snapshot(s *Session) map[string]string {
	st := s.state
	out := map[string]string{
		"prompt": s.Prompt(), "kube": st.kube, "version": st.version, "rule": fmt.Sprint(st.rule),
		"place": engine.FormatPath(st.steps), "undo": fmt.Sprint(len(s.past), len(s.future)),
		"unsaved": fmt.Sprint(s.Unsaved()), "saved": fmt.Sprint(s.saved),
	}
	if st.crd != nil {
		out["crd"], out["config"] = string(st.crd.doc.Text), fmt.Sprintf("%+v", st.crd.config)
	}
	for name, o := range map[string]*object{"object": st.object, "old": st.old} {
		if o != nil {
			out[name] = fmt.Sprint(o.doc.File, string(o.doc.Text), o.value, o.prepared)
		}
	}
	if st.location != nil {
		out["self"] = fmt.Sprint(st.location.self, st.location.old, st.location.has)
	}
	return out
}

var badArguments = []string{
	"", "nope", "1", "9", "-1", "0", "99999999999999999999", "1 1", "nope = 1", "replicas", "replicas = x", "replicas[0] = 1", "env[9] = {}", "/kind = \"X\"", "unset status", "set nope = 1", "x", "all all", "replicas = {", "replicas = ", "= 1", "[", "[9]", "['", "..", "../../../..", "/nope",
	"spec.nope", "[*]", "env[*].name = \"x\"", "env[99] = {}", "/ = {}", "set", "set nope", "set x = {", "unset nope", "unset", "copy that", "crd", "crd nope", "object nope", "old nope", "old",
	"v9", "1.99", "2.0", "1.30.1", "self.", "self.nope", "1 / 0", "self", "true true", "'", "(", ")", "1 self.nope", "9 true", "2 1", "1 - -", "X", "1 X", ".nope", "1 .nope", "1 ..", "maybe", "1 maybe", "1 'x' + 1",
	"\x00", "日本", strings.Repeat("(", 300), strings.Repeat("a.", 300) + "a", ": :", "//", "-",
}

func sessions(t *testing.T) map[string]func() *Session {
	full := func() *Session {
		s := crontab(t)
		for _, line := range []string{":cd spec", ":add self.replicas < 50", ":message few", ":old copy", ":set replicas = 7", ":undo"} {
			must(t, s, line)
		}
		s.host.Save = func(SaveRequest) (string, error) { return "", errors.New("disk full") }
		s.host.Load = func(path string) ([]Document, error) {
			if path == "" || strings.ContainsAny(path, "abcdefghijklmnopqrstuvwxyz") {
				return nil, errors.New("no such file")
			}
			return []Document{{File: path, JSON: []byte(`{"kind":"Other"}`)}, {File: path, JSON: []byte(`[]`)}}, nil
		}
		return s
	}
	return map[string]func() *Session{
		"full": full,
		"empty": func() *Session {
			s, err := NewSession(Config{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		"without object": func() *Session {
			s := crontab(t)
			next := *s.state
			next.object = nil
			if err := s.commit(&next, nil); err != nil {
				t.Fatal(err)
			}
			return s
		},
		"at an item": func() *Session { s := full(); must(t, s, ":cd env[0].name"); return s },
		"at nothing": func() *Session { s := full(); must(t, s, ":cd /status.phase"); return s },
	}
}

func TestEveryFailureChangesNothing(t *testing.T) {
	for name, open := range sessions(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open()
			for _, c := range commands() {
				failed := 0
				for _, arg := range badArguments {
					before := snapshot(s)
					if !fails(t, s, strings.TrimSpace(":"+c.name+" "+arg)) {
						continue
					}
					failed++
					if diff := cmp.Diff(before, snapshot(s)); diff != "" {
						t.Errorf(":%s %.40s failed and changed the session:\n%s", c.name, arg, diff)
						s = open()
					}
				}
				if failed == 0 && name == "full" {
					t.Errorf(":%s never failed", c.name)
				}
			}
		})
	}
}

// fails executes a line and reports whether it failed. If it succeeded, fails restores the session.
func fails(t *testing.T, s *Session, line string) bool {
	t.Helper()
	kept, saved := s.undoPoint(), maps.Clone(s.saved)
	reply := s.Do(context.Background(), line)
	if s.partial != "" {
		reply = s.End(context.Background())
	}
	if strings.Contains(reply.Text, "internal error") || reply.Failed && (!strings.HasSuffix(reply.Text, "\n") || reply.Text == "error: \n") {
		t.Errorf("%.60s: %q", line, reply.Text)
	}
	if !reply.Failed {
		s.restore(kept)
		s.saved = saved
	}
	return reply.Failed
}

func TestLoadBuiltin(t *testing.T) {
	t.Parallel()
	version := "v0"
	s, err := NewSession(Config{Host: Host{Load: func(string) ([]Document, error) {
		return []Document{{JSON: fmt.Appendf(nil, `{"apiVersion": "apps/%s", "kind": "Deployment", "metadata": {"name": "a"}}`, version)}}, nil
	}}})
	if err != nil {
		t.Fatal(err)
	}
	before := snapshot(s)
	if !s.Do(t.Context(), ":load object a.yaml").Failed {
		t.Error(":load of an unknown version succeeded")
	}
	if diff := cmp.Diff(before, snapshot(s)); diff != "" {
		t.Error(diff)
	}
	version = "v1"
	must(t, s, ":load object a.yaml")
	must(t, s, ":undo")
	if s.state.crd != nil || len(s.past) > 0 {
		t.Errorf("after :undo, %q is loaded", s.Prompt())
	}
}

// A rule that exceeds the work limit is added, and its verdict is undecided.
func TestRulesBeyondWorkLimit(t *testing.T) {
	t.Parallel()
	s := crontab(t)
	must(t, s, ":cd spec")
	must(t, s, ":set schedule = \"1e2000000000\"")
	for _, line := range []string{":add quantity(self.schedule).isLessThan(quantity('1'))", ":rules"} {
		if reply := s.Do(t.Context(), line); reply.Failed || !strings.Contains(reply.Text, "undecided") {
			t.Errorf("%s: got %q", line, reply.Text)
		}
	}
	empty, err := NewSession(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := empty.Evaluator("1 + 1"); !errors.Is(err, ErrNoCRD) {
		t.Errorf("without a CRD: got %v", err)
	}
}
