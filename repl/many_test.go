package repl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
)

// crontabs returns a session with n CronTabs as its collection. One in ten has more replicas than allowed,
// and one in ten has an invalid name of a variable.
func crontabs(t testing.TB, n int) *Session {
	t.Helper()
	s := crontab(t)
	s.collection = &collection{kind: s.state.crd.kind()}
	used := 0
	for i := range n {
		if err := s.collection.add(&Input{File: "dump.json", Line: i + 1, Object: crontabObject(i)}, &used); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func crontabObject(i int) map[string]any {
	replicas, name := int64(1), "A"
	switch i % 10 {
	case 3:
		replicas = 11
	case 7:
		name = "lower"
	}
	return map[string]any{
		"apiVersion": "stable.example.com/v1", "kind": "CronTab",
		"metadata": map[string]any{"name": fmt.Sprintf("n%d", i), "namespace": fmt.Sprintf("ns%d", i%3)},
		"spec": map[string]any{
			"schedule": "0 3 * * *", "image": "a", "replicas": replicas,
			"env": []any{map[string]any{"name": name, "value": fmt.Sprint(i)}, map[string]any{"name": "B", "value": "b"}},
		},
	}
}

func TestTalliesAreExact(t *testing.T) {
	t.Parallel()
	const total = 1000
	s := crontabs(t, total)
	want := map[engine.RuleRef]int{}
	for i := range total {
		res, err := s.state.crd.engine.Validate(t.Context(), engine.Request{Object: crontabObject(i)})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range res.Causes {
			want[engine.RuleRef{Path: c.Rule.Path, Index: c.Rule.Index}]++
		}
	}
	got, objects, err := s.tallies(t.Context())
	if err != nil || objects != total || len(got) != len(want) || len(want) < 2 {
		t.Fatalf("%d rules reject, want %d; %d objects, %v", len(got), len(want), objects, err)
	}
	for ref, n := range want {
		if got[ref] == nil || got[ref].n != n || len(got[ref].first) != min(n, maxRows) {
			t.Errorf("%v: got %+v, want %d", ref, got[ref], n)
		}
	}
}

func TestManyInterrupted(t *testing.T) {
	t.Parallel()
	s := crontabs(t, 2000)
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	for _, line := range []string{":rules", ":rules all"} {
		reply := s.Do(stopped, line)
		if !reply.Failed || !strings.Contains(reply.Text, errInterrupted.Error()) {
			t.Errorf("%s: %q", line, reply.Text)
		}
	}
	must(t, s, ":cd spec")
	reply := s.Do(stopped, ":add self.replicas < 9")
	if reply.Failed || !strings.Contains(reply.Text, "not counted") || len(s.rulesHere()) != 3 {
		t.Errorf(":add: %q", reply.Text)
	}
	if text := must(t, s, ":rules 2 --rejected"); strings.Count(text, "\n") != maxRows+1 || !strings.Contains(text, "and 100 more") {
		t.Errorf("got %q", text)
	}
	if text := must(t, s, ":objects"); strings.Count(text, "\n") != maxRows+1 || !strings.Contains(text, "and 1,900 more") {
		t.Errorf("got %q", text)
	}
}

func readsFrom(t *testing.T, all ...*Input) *Session {
	t.Helper()
	s, err := NewSession(Config{Host: Host{Read: func(_ context.Context, _ []string, take func(*Input) error) error {
		for _, in := range all {
			if in.Document == nil {
				in.Document = func() (Document, error) { return generated(foundFile, in.Object) }
			}
			if err := take(in); err != nil {
				return err
			}
		}
		return nil
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func crontabDefinition(t *testing.T) *Input {
	t.Helper()
	doc := readDocuments(t, "../examples/crontab/crd.yaml")[0]
	definition, err := engine.Decode(doc.JSON)
	if err != nil {
		t.Fatal(err)
	}
	return &Input{File: "crd.yaml", Object: definition, Document: func() (Document, error) { return doc, nil }}
}

func TestWrongObjects(t *testing.T) {
	t.Parallel()
	cronTab := func(meta, spec any) map[string]any {
		return map[string]any{"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": meta, "spec": spec}
	}
	s := readsFrom(t,
		&Input{File: "a", Line: 1, Err: errors.New("broken")}, &Input{File: "a", Line: 2, Object: map[string]any{}},
		&Input{File: "a", Line: 3, Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}},
		&Input{File: "a", Line: 4, Object: crontabObject(1)}, &Input{File: "a", Line: 5, Object: cronTab("none", 1.5)},
		&Input{File: "a", Line: 6, Object: cronTab(map[string]any{"name": "unknown"}, complex(1, 2))},
		&Input{File: "a", Line: 7, Object: cronTab(map[string]any{"name": "\x1b[31mred"}, nil)}, crontabDefinition(t),
	)
	text, many, err := s.Open(t.Context(), Inputs{Paths: []string{"a"}})
	want := "3 objects (n1 is current); not used: 1 of other kinds (a:3: Secret), 3 unreadable (a:1: broken)"
	if err != nil || !many || !strings.Contains(text, "3 objects (n1 is current); not used: ") || strings.Contains(text, "\x1b") {
		t.Errorf("got %q, %v, want %q", text, err, want)
	}
	for _, line := range []string{":objects", ":rules all", ":object n1", ":object 0"} {
		if text := must(t, s, line); strings.Contains(text, "\x1b") {
			t.Errorf("%s: %q", line, text)
		}
	}
	if reply := s.Do(t.Context(), ":object 3"); !reply.Failed {
		t.Errorf("got %q", reply.Text)
	}
}

// TestObjectsAreBounded opens an endless stream of objects. The attacker is the author of the files that a user opens.
func TestObjectsAreBounded(t *testing.T) {
	t.Parallel()
	for name, object := range map[string]map[string]any{
		"small": {"apiVersion": "a/v1", "kind": "A"},
		"named": {"apiVersion": "a/v1", "kind": "A", "metadata": map[string]any{"name": strings.Repeat("x", 1<<20)}},
	} {
		c, used, n := &collection{}, maxStored-(8<<20), 0
		for ; n < 1<<16; n++ {
			if err := c.add(&Input{Object: object}, &used); err != nil {
				if !errors.Is(err, errFull) {
					t.Error(err)
				}
				break
			}
		}
		if n == 0 || n > 8<<20/storedOverhead || len(c.objects) != n {
			t.Errorf("%s: %d objects fit into 8 MiB, %d were kept", name, n, len(c.objects))
		}
	}
	o := &sorter{stored: maxStored - (8 << 20), objects: map[schema.GroupKind]*collection{}}
	var err error
	for i := 0; err == nil && i < 1<<16; i++ { // of many kinds
		object := map[string]any{"apiVersion": "a/v1", "kind": fmt.Sprint("A", i%maxKinds)}
		err = o.take(&Input{File: "a", Object: object, Document: func() (Document, error) { return generated(foundFile, object) }})
	}
	if !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}

func TestCompleteMany(t *testing.T) {
	t.Parallel()
	s := crontabs(t, 1000)
	for line, want := range map[string]string{
		":rules 0 ": "--rejected",
	} {
		var got []string
		for _, c := range s.Complete(line, len([]rune(line))).Candidates {
			got = append(got, c.Text)
		}
		if text := strings.Join(got, " "); !strings.HasPrefix(text, want) {
			t.Errorf("%s: got %q, want %q", line, text, want)
		}
	}
}

func BenchmarkTallies(b *testing.B) {
	s := crontabs(b, 10_000)
	for b.Loop() {
		if _, _, err := s.tallies(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
