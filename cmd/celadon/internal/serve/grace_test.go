package serve

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestServeSlowWriter(t *testing.T) {
	t.Parallel()
	const grace = 30 * time.Second
	alpha, beta, gamma := crdOf(t, "Alpha", "10"), crdOf(t, "Beta", "10"), crdOf(t, "Gamma", "10")
	all := strings.Join([]string{alpha, beta, gamma}, "\n---\n")
	type step struct {
		after time.Duration
		text  string // "" = no file
		want  string // kinds in force
		again time.Duration
	}
	for name, steps := range map[string][]step{
		"nothing happens": {{time.Hour, all, "Alpha Beta Gamma", 0}},
		"cut where documents end": {
			{time.Hour, alpha, "Alpha Beta Gamma", grace},
			{grace - 1, alpha + "\n---\n", "Alpha Beta Gamma", 1},
			{0, alpha + "\n---\n" + beta, "Alpha Beta Gamma", grace},
			{grace - 1, all, "Alpha Beta Gamma", 0},
			{time.Hour, all, "Alpha Beta Gamma", 0},
		},
		"cut in the middle": {
			{time.Hour, alpha + "\n---\nkind: CustomResourceDefinition\nspec: [", "Alpha Beta Gamma", 0},
			{time.Hour, alpha + "\n---\nkind: CustomResourceDefinition\nspec: [", "Alpha Beta Gamma", 0},
		},
		"removed in earnest": {
			{time.Hour, alpha, "Alpha Beta Gamma", grace},
			{grace - 1, alpha, "Alpha Beta Gamma", 1},
			{1, alpha, "Alpha", 0},
		},
		"another file changes meanwhile": {
			{time.Hour, alpha + "\n---\n" + beta, "Alpha Beta Gamma", grace},
			{grace / 2, alpha, "Alpha Beta Gamma", grace},
			{grace / 2, alpha, "Alpha Beta Gamma", grace / 2},
			{grace / 2, alpha, "Alpha", 0},
		},
		"emptied":               {{time.Hour, " ", "Alpha Beta Gamma", 0}, {time.Hour, " ", "Alpha Beta Gamma", 0}, {0, all, "Alpha Beta Gamma", 0}},
		"away and back":         {{time.Hour, "", "Alpha Beta Gamma", 0}, {time.Hour, "", "Alpha Beta Gamma", 0}, {0, all, "Alpha Beta Gamma", 0}},
		"a change and an end":   {{time.Hour, crdOf(t, "Alpha", "20"), "Alpha Beta Gamma", grace}, {grace, crdOf(t, "Alpha", "20"), "Alpha", 0}},
		"one is added promptly": {{0, all + "\n---\n" + crdOf(t, "Delta", "10"), "Alpha Beta Delta Gamma", 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "crds.yaml")
			write(t, path, all)
			synctest.Test(t, func(t *testing.T) {
				s, _ := testServer(1)
				f := &crdFolder{stdin: strings.NewReader(""), paths: []string{filepath.Dir(path)}, server: s, reading: reading{grace: grace}}
				if problems, _ := f.load(); len(problems) > 0 {
					t.Fatal(problems)
				}
				for i, step := range steps {
					time.Sleep(step.after)
					if step.text == "" {
						_ = os.Remove(path)
					} else {
						write(t, path, step.text)
					}
					again := f.reload()
					if got := kindsOf(s); got != step.want || again != step.again {
						t.Errorf("step %d: %s are in force, look again after %s; want %s, %s", i, got, again, step.want, step.again)
					}
				}
			})
		})
	}
}

func kindsOf(s *server) string {
	var kinds []string
	for _, kind := range []string{"Alpha", "Beta", "Delta", "Gamma"} {
		if s.set.Engine(schema.GroupVersionKind{Group: "stable.example.com", Version: "v1", Kind: kind}) != nil {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return strings.Join(kinds, " ")
}

func TestServeRemoves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.yaml"), crdOf(t, "Alpha", "10"))
	write(t, filepath.Join(dir, "b.yaml"), crdOf(t, "Beta", "10"))
	s := startServe(t, "--crd", dir, "--plain-http", "--remove-after", "500ms")
	if err := os.Remove(filepath.Join(dir, "b.yaml")); err != nil {
		t.Fatal(err)
	}
	s.await("the end is seen and done", func() bool { return s.reloads() == 2 })
	for i, want := range []struct{ removed, missing string }{{"", "betas.stable.example.com"}, {"betas.stable.example.com", ""}} {
		record := s.log.records("CRDs reloaded")[i]
		for key, want := range map[string]string{"removed": want.removed, "missing": want.missing} {
			if got := strings.Join(texts(record[key]), " "); got != want {
				t.Errorf("reading %d: %s %q, want %q", i, key, got, want)
			}
		}
	}
	if r := s.review("/validate", replicas("Beta", "15")); !r.Allowed {
		t.Errorf("got %+v", r)
	}
}

func texts(list any) []string {
	items, _ := list.([]any)
	var out []string
	for _, item := range items {
		text, _ := item.(string)
		out = append(out, text)
	}
	return out
}
