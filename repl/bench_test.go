package repl

import (
	"testing"
	"time"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

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
	if err := s.LoadCRD(readDocuments(b, corpus.Largest(b, corpusCRDs(b)))[0]); err != nil {
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

func TestCompleteTells(t *testing.T) {
	doc := readDocuments(t, corpus.Largest(t, corpusCRDs(t)))[0]
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
	doc := readDocuments(b, corpus.Largest(b, corpusCRDs(b)))[0]
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
	if err := s.LoadCRD(readDocuments(b, corpus.Largest(b, corpusCRDs(b)))[0]); err != nil {
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
