package repl

import (
	"os"
	"testing"
	"time"
)

// largest is the largest CRD of the corpus.
func largest(t testing.TB) Document {
	t.Helper()
	best, size := "", int64(0)
	for _, file := range corpusCRDs(t) {
		if info, err := os.Stat(file); err == nil && info.Size() > size {
			best, size = file, info.Size()
		}
	}
	return corpusDocuments(t, best)[0]
}

// completed are lines whose end is completed, by what it takes.
var completed = map[string]string{
	"nothing":  "",
	"field":    "self.spec.",
	"method":   "self.kind.split('').",
	"macro":    "[self.spec].all(s, s.",
	"word":     "se",
	"path":     ":cd spec.",
	"function": ":funcs is",
	"rule":     ":add self.spec.",
}

func BenchmarkComplete(b *testing.B) {
	s, err := NewSession(Config{})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.LoadCRD(largest(b)); err != nil {
		b.Fatal(err)
	}
	for name, line := range completed {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.Complete(line, len(line))
			}
		})
	}
}

// TestCompleteTells completes on a large CRD and tells how long that took.
func TestCompleteTells(t *testing.T) {
	doc := largest(t)
	for name, line := range completed {
		s, err := NewSession(Config{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.LoadCRD(doc); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		c := s.Complete(line, len(line))
		took := time.Since(start)
		t.Logf("%s: %d candidates in %v", name, len(c.Candidates), took)
		if len(c.Candidates) == 0 {
			t.Errorf("%s: no candidates", name)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	doc := largest(b)
	for b.Loop() {
		s, err := NewSession(Config{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.LoadCRD(doc); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAddRule(b *testing.B) {
	s, err := NewSession(Config{})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.LoadCRD(largest(b)); err != nil {
		b.Fatal(err)
	}
	must(b, s, ":cd spec")
	for b.Loop() {
		must(b, s, ":add self == self")
		b.StopTimer()
		must(b, s, ":undo")
		b.StartTimer()
	}
}
