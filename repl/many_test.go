package repl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

// crontabs returns a session with n CronTabs as its collection. One in ten has more replicas than allowed,
// and one in ten has an invalid name of a variable.
func crontabs(t testing.TB, n int) *Session {
	t.Helper()
	s := crontab(t)
	s.host.Read = func(ctx context.Context, paths []string, take func(*Input) error) error {
		for i := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := take(&Input{File: paths[0], Line: i + 1, Object: crontabObject(i)}); err != nil {
				return err
			}
		}
		return nil
	}
	if n > 0 {
		must(t, s, ":objects dump.json")
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

// TestCountsAreExact compares the counts of all rules with the results of validating each object.
func TestCountsAreExact(t *testing.T) {
	t.Parallel()
	const objects = 1000
	s := crontabs(t, objects)
	want := map[engine.RuleRef]int{}
	for i := range objects {
		res, err := s.state.crd.engine.Validate(t.Context(), engine.Request{Object: crontabObject(i)})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range res.Causes {
			want[engine.RuleRef{Path: c.Rule.Path, Index: c.Rule.Index}]++
		}
	}
	var paths []*location
	for _, path := range []string{"", "spec", "spec.env", "spec.image", "spec.schedule"} {
		steps, err := engine.ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := newLocation(s.state.crd, s.state.version, steps, nil)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, p)
	}
	together, err := s.countRules(t.Context(), s.rulesOf(paths...))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.rulesOf(paths...) {
		alone, err := s.countAgain(t.Context(), s.collection, []countedRule{r})
		if err != nil {
			t.Fatal(err)
		}
		ref := engine.RuleRef{Path: r.path, Index: r.index}
		if got := together[ref]; got.rejected.n != want[ref] || got.objects != objects || !reflect.DeepEqual(got, alone[ref]) {
			t.Errorf("%v: got %+v, alone %+v, want %d", ref, got, alone[ref], want[ref])
		}
	}
}

// TestOnlyChangedRulesRun checks that a rule runs again only if it, its path, or the rest of the CRD changes.
func TestOnlyChangedRulesRun(t *testing.T) {
	t.Parallel()
	s := crontabs(t, 20)
	for _, step := range []struct {
		line string
		n    int // cached counts afterwards
	}{
		{":rules all", 5},
		{":cd spec", 5},
		{":add self.replicas < 9", 6},
		{":rules", 6},
		{":message few", 6},
		{":edit 2 self.replicas < 8", 7},
		{":undo", 7},
		{":rules", 7},
		{":drop 0", 7},
		{":rules", 7},
	} {
		if must(t, s, step.line); len(s.collection.counts) != step.n {
			t.Errorf("%s: %d counts, want %d", step.line, len(s.collection.counts), step.n)
		}
	}
	before := s.state.crd.digest
	must(t, s, ":as status")
	must(t, s, ":rules")
	if len(s.collection.counts) != 9 || s.state.crd.digest != before {
		t.Errorf(":as status: %d counts", len(s.collection.counts))
	}
}

// TestManyInterrupted checks that an interruption ends commands on many objects and leaves the session as it was.
func TestManyInterrupted(t *testing.T) {
	t.Parallel()
	s := crontabs(t, 2000)
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	c := s.collection
	for _, line := range []string{
		":objects other.json", ":objects", ":rules all", ":each self.spec.env.map(e, e.name + e.value)",
		":count self.spec.env.all(e, self.spec.env.all(f, e.name <= f.name))", ":distinct self.metadata.name",
	} {
		reply := s.Do(stopped, line)
		if !reply.Failed || !strings.Contains(reply.Text, errInterrupted.Error()) || s.collection != c {
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
}

// TestManyDistinctValues checks that the number of values that are held is limited, however many there are.
func TestManyDistinctValues(t *testing.T) {
	t.Parallel()
	s := crontabs(t, 2*maxDistinct)
	text := must(t, s, ":distinct self.metadata.name")
	if strings.Count(text, "\n") != maxRows+1 || !strings.Contains(text, "and over 9,900 more values") {
		t.Errorf("got %q", text)
	}
}

// TestWrongObjects checks the collection after objects that cannot be used.
func TestWrongObjects(t *testing.T) {
	t.Parallel()
	s := crontabs(t, 0)
	s.host.Read = func(_ context.Context, _ []string, take func(*Input) error) error {
		for _, in := range []*Input{
			{File: "a", Line: 1, Err: errors.New("broken")},
			{File: "a", Line: 2, Object: map[string]any{}},
			{File: "a", Line: 3, Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}},
			{File: "a", Line: 4, Object: crontabObject(1)},
			{File: "a", Line: 5, Object: map[string]any{"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": "none", "spec": 1.5}},
			{File: "a", Line: 6, Object: map[string]any{"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": map[string]any{"name": "unknown"}, "spec": complex(1, 2)}},
		} {
			if err := take(in); err != nil {
				return err
			}
		}
		return nil
	}
	must(t, s, ":objects a")
	if got, want := s.collection.skipped, (skipped{others: 2, unreadable: 2, other: "a:2: no kind", broken: "a:1: broken"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, line := range []string{":objects", ":rules all", ":each self.spec", ":count true", ":distinct self.spec.image", ":object n1"} {
		must(t, s, line)
	}
}

func TestSplitWhere(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string][2]string{
		"a": {"a", ""}, "a where b": {"a", "b"}, "f(where) where c": {"f(where)", "c"}, "self.where": {"self.where", ""},
		"'x where y'": {"'x where y'", ""}, "where": {"where", ""}, "a.b() where where": {"a.b()", "where"}, "'日' where b": {"'日'", "b"},
	} {
		src, where, err := splitWhere(arg)
		if got := [2]string{src, where}; got != want || err != nil {
			t.Errorf("%q: got %q, %v", arg, got, err)
		}
	}
}

func TestSplitWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "[]", "a b": `["a" "b"]`, ` "a b"  c`: `["a b" "c"]`, "'a'b": `["a" "b"]`, `"a`: "[]",
	} {
		words, err := splitWords(text)
		if got := fmt.Sprintf("%q", words); got != want || (err != nil) != (text == `"a`) {
			t.Errorf("%q: got %s, %v", text, got, err)
		}
	}
}

// TestCompleteMany checks the completions of the arguments of commands on many objects.
func TestCompleteMany(t *testing.T) {
	t.Parallel()
	s := crontabs(t, 1000)
	for line, want := range map[string]string{
		":object n99":                           "n99 n990 n991",
		":object ns0/n99":                       "ns0/n99 ns0/n990 ns0/n993",
		":objects --":                           "--cluster",
		":objects x a":                          "a.yaml",
		":rules 0 ":                             "--rejected",
		":each self.sp":                         "self.spec",
		":each self.spec.image where self.spec": "spec",
		":count self.spec.im":                   "image",
	} {
		var got []string
		for _, c := range s.Complete(line, len([]rune(line))).Candidates {
			got = append(got, c.Text)
		}
		if text := strings.Join(got, " "); !strings.Contains(text, strings.TrimPrefix(want, "self.")) && !strings.HasPrefix(text, want) {
			t.Errorf("%s: got %q, want %q", line, text, want)
		}
	}
	if got := len(s.Complete(":object n", 9).Candidates); got != maxCompletions {
		t.Errorf("got %d completions, want %d", got, maxCompletions)
	}
}

// BenchmarkRecount measures what an edit of a rule costs for each object.
func BenchmarkRecount(b *testing.B) {
	s := crontabs(b, 10_000)
	must(b, s, ":cd spec")
	rules := s.rulesOf(s.state.location)[:1]
	for b.Loop() {
		if _, err := s.countAgain(b.Context(), s.collection, rules); err != nil {
			b.Fatal(err)
		}
	}
}
