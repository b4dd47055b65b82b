package celparse_test

import (
	"bytes"
	"os"
	"slices"
	"sync"
	"testing"

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

// BenchmarkParse parses all distinct rules of the corpora.
func BenchmarkParse(b *testing.B) {
	s, env := kubernetes(b)
	all := rules(b)
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, rule := range all {
				if _, err := s.ours.Parse(celparse.NewSource(rule)); err != nil {
					b.Fatal(rule)
				}
			}
		}
	})
	b.Run("cel-go", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, rule := range all {
				if _, issues := env.Parse(rule); issues.Err() != nil {
					b.Fatal(rule)
				}
			}
		}
	})
}
