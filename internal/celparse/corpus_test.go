package celparse_test

import (
	"bytes"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/celadon-cel/celadon/internal/celparse"
	"github.com/celadon-cel/celadon/internal/corpus"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/parser"
	"k8s.io/apiserver/pkg/cel/environment"
)

// rules are the distinct expressions of all corpora, sorted.
func rules(t testing.TB) []string {
	t.Helper()
	files := corpus.CRDFiles(t)
	readRules.Do(func() {
		distinct := map[string]bool{}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(data, []byte("x-kubernetes-validations")) {
				continue
			}
			var doc yaml.Node
			if err := yaml.Unmarshal(data, &doc); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			collect(&doc, distinct)
		}
		for rule := range distinct {
			allRules = append(allRules, rule)
		}
		slices.Sort(allRules)
	})
	return allRules
}

var (
	readRules sync.Once
	allRules  []string
)

// manyTexts are expressions of each kind, and all rules where there is a corpus.
func manyTexts(t testing.TB) []string {
	t.Helper()
	texts := expressions()[:300]
	if len(corpus.Named(t)) > 0 {
		texts = append(texts, rules(t)...)
	}
	return texts
}

// collect adds the expressions below a node.
func collect(n *yaml.Node, to map[string]bool) {
	for i, child := range n.Content {
		collect(child, to)
		if n.Kind == yaml.MappingNode && i%2 == 0 && (child.Value == "rule" || child.Value == "messageExpression") && n.Content[i+1].Kind == yaml.ScalarNode {
			to[n.Content[i+1].Value] = true
		}
	}
}

// kubernetes is the parser of the newest environment, twice.
func kubernetes(t testing.TB) (side, *cel.Env) {
	t.Helper()
	env := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv()
	config := celparse.Config{Macros: env.Macros(), OptionalSyntax: env.HasLibrary("cel.lib.optional")}
	return newSide(t, "kubernetes", config, parser.Macros(env.Macros()...), parser.EnableOptionalSyntax(true)), env
}

// TestCorpusRules parses every rule of the corpora.
func TestCorpusRules(t *testing.T) {
	t.Parallel()
	s, _ := kubernetes(t)
	accepted, all := 0, rules(t)
	for _, rule := range all {
		if s.compare(t, rule) {
			accepted++
		}
	}
	t.Logf("%d of %d rules accepted", accepted, len(all))
}

// BenchmarkParse parses all distinct rules of the corpora, with ours and with
// cel-go's parser in turns. The metrics are per rule, and how many times cel-go's
// ours are.
func BenchmarkParse(b *testing.B) {
	s, env := kubernetes(b)
	all := rules(b)
	var ours, upstream spent
	for b.Loop() {
		for range 8 {
			ours.add(func() {
				for _, rule := range all {
					if _, err := s.ours.Parse(celparse.NewSource(rule)); err != nil {
						b.Fatal(rule)
					}
				}
			})
		}
		upstream.add(func() {
			for _, rule := range all {
				if _, issues := env.Parse(rule); issues.Err() != nil {
					b.Fatal(rule)
				}
			}
		})
	}
	time, allocs := ours.per(len(all))
	upstreamTime, upstreamAllocs := upstream.per(len(all))
	b.ReportMetric(time, "ns/rule")
	b.ReportMetric(allocs, "allocs/rule")
	b.ReportMetric(upstreamTime/time, "x-time")
	b.ReportMetric(upstreamAllocs/allocs, "x-allocs")
}

// spent is what turns of some work took.
type spent struct {
	turns  int
	time   time.Duration
	allocs uint64
}

func (s *spent) add(work func()) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	work()
	s.time += time.Since(begin)
	runtime.ReadMemStats(&after)
	s.allocs += after.Mallocs - before.Mallocs
	s.turns++
}

func (s *spent) per(n int) (ns, allocs float64) {
	n *= s.turns
	return float64(s.time) / float64(n), float64(s.allocs) / float64(n)
}
