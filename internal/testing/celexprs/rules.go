package celexprs

import (
	"bytes"
	"os"
	"slices"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

// Rules returns the distinct rules and message expressions in the CRDs of all corpora, sorted.
func Rules(t testing.TB) []string {
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

// Many returns the first 300 expressions of Kinds and, if there is a corpus, its rules and message
// expressions.
func Many(t testing.TB) []string {
	t.Helper()
	texts := Kinds()[:300]
	if len(corpus.Named(t)) > 0 {
		texts = append(texts, Rules(t)...)
	}
	return texts
}

func collect(n *yaml.Node, to map[string]bool) {
	for i, child := range n.Content {
		collect(child, to)
		if n.Kind == yaml.MappingNode && i%2 == 0 && (child.Value == "rule" || child.Value == "messageExpression") && n.Content[i+1].Kind == yaml.ScalarNode {
			to[n.Content[i+1].Value] = true
		}
	}
}
