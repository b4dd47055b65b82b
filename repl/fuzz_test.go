package repl

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/celadon-cel/celadon/engine"
)

// FuzzSession checks that no line causes a panic or damages a session: failed lines change nothing,
// completion accepts any text, and the CRD remains readable.
func FuzzSession(f *testing.F) {
	if testing.Short() {
		f.Skip("takes long")
	}
	scripts, err := filepath.Glob("../cmd/celadon/testdata/script/repl*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(strings.Repeat(":add true\n", 8)) // older engines are released
	for _, script := range scripts {
		a, err := txtar.ParseFile(script)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			if strings.HasSuffix(file.Name, ".txt") && !strings.HasPrefix(file.Name, "want") {
				f.Add(string(file.Data))
				for line := range strings.Lines(string(file.Data)) {
					f.Add(line)
				}
			}
		}
	}
	loaded := crontab(f)
	loaded.past = nil // loading cannot be undone
	f.Fuzz(func(t *testing.T, script string) {
		s := afresh(loaded)
		first := string(s.state.crd.doc.Text)
		for _, line := range strings.Split(script, "\n")[:min(40, strings.Count(script, "\n")+1)] {
			before, alone := s.undoPoint(), s.partial == ""
			reply := s.Do(t.Context(), line)
			if strings.Contains(reply.Text, "internal error") {
				var bug *engine.InternalError
				_, err := s.Eval(t.Context(), line) // the error may occur again
				errors.As(err, &bug)
				t.Fatalf("%q of %q: %s\n%s", line, script, reply.Text, stackOf(bug))
			}
			if reply.Failed && alone && (s.state != before.state || len(s.past) != len(before.past) || len(s.future) != len(before.future)) {
				t.Errorf("%q failed and changed the session", line)
			}
			if !utf8.ValidString(line) {
				continue
			}
			runes := []rune(line)
			for _, pos := range []int{0, len(runes) / 2, len(runes)} {
				if c := s.Complete(line, pos); c.Start < 0 || c.Start > pos {
					t.Errorf("%q at %d: completion starts at %d", line, pos, c.Start)
				}
			}
			s.Width = len(runes) % 90
		}
		if _, err := newCRD(s.state.crd.doc, s.state.crd.config); err != nil {
			t.Error(err)
		}
		for len(s.past) > 0 {
			if _, err := undo(context.Background(), s, ""); err != nil {
				t.Fatal(err)
			}
		}
		if string(s.state.crd.doc.Text) != first {
			t.Error("after undoing everything, the CRD differs from the original")
		}
	})
}

func stackOf(bug *engine.InternalError) []byte {
	if bug == nil {
		return nil
	}
	return bug.Stack
}

func crontab(t testing.TB) *Session {
	t.Helper()
	good := readDocuments(t, "../examples/crontab/objects/good.yaml")
	s, err := NewSession(Config{Host: Host{
		Load: func(string) ([]Document, error) { return good, nil },
		Save: func(r SaveRequest) (string, error) { return r.Document.File, nil },
		Files: func(string) []string {
			return []string{"a.yaml"}
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.LoadCRD(readDocuments(t, "../examples/crontab/crd.yaml")[0]); err != nil {
		t.Fatal(err)
	}
	if err := s.LoadObject(readDocuments(t, "../examples/crontab/updates/nightly.yaml")[0]); err != nil {
		t.Fatal(err)
	}
	return s
}

func readDocuments(t testing.TB, file string) []Document {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var docs []Document
	line := 1
	for _, text := range strings.SplitAfter(string(data), "\n---\n") {
		doc, err := Document{File: file, Line: line}.convert([]byte(strings.TrimSuffix(text, "---\n")))
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
		line += strings.Count(text, "\n")
	}
	return docs
}

func TestUndoAll(t *testing.T) {
	s := crontab(t)
	first := string(s.state.crd.doc.Text)
	lines := []string{":cd spec", ":add self.replicas < 50", ":message few", ":set replicas = 7", ":old copy", ":kube 1.33", ":drop 1", ":use v1", ":unset replicas", ":add self.replicas < 51", ":add self.replicas < 52"}
	for _, line := range lines {
		must(t, s, line)
	}
	last, object := string(s.state.crd.doc.Text), string(s.state.object.doc.Text)
	for range lines[1:] {
		must(t, s, ":undo")
	}
	if string(s.state.crd.doc.Text) != first || s.state.old != nil || s.state.kube != "" {
		t.Error("the session is not as it was")
	}
	must(t, s, "self")
	for range lines[1:] {
		must(t, s, ":redo")
	}
	if string(s.state.crd.doc.Text) != last || string(s.state.object.doc.Text) != object {
		t.Error("the session is not as it came to be")
	}
	must(t, s, ":rules")
}

func TestInterrupted(t *testing.T) {
	s := crontab(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	list := "[" + strings.Repeat("1, ", 500) + "1]"
	reply := s.Do(ctx, list+".all(x, x > 0)")
	if !reply.Failed || !strings.Contains(reply.Text, "operation interrupted") {
		t.Errorf("%s", reply.Text)
	}
}

// afresh returns a copy of a loaded session. The state and CRD are copied because older states
// release their engines.
func afresh(loaded *Session) *Session {
	s, state, crd := *loaded, *loaded.state, *loaded.state.crd
	s.state, state.crd = &state, &crd
	s.saved = maps.Clone(loaded.saved)
	return &s
}
