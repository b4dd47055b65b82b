package lsp

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

// ruleStart matches the beginning of a rule about a field of self.
var ruleStart = regexp.MustCompile(`(?m)^ *-? *rule: .*?self\.`)

func withRules(t *testing.T, n int) (texts []string) {
	t.Helper()
	for _, file := range corpus.CRDFiles(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) < 1<<20 && ruleStart.Match(data) {
			texts = append(texts, string(data))
		}
	}
	if len(texts) < n {
		t.Fatalf("%d CRDs with rules, want %d", len(texts), n)
	}
	step := len(texts) / n
	for i := range n {
		texts[i] = texts[i*step]
	}
	return texts[:n]
}

func TestFirstCompletion(t *testing.T) {
	t.Parallel()
	n := 30
	if testing.Short() {
		n = 5
	}
	for i, text := range withRules(t, n) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			rule := newText(text).position(ruleStart.FindStringIndex(text)[1])
			c := start(t, nil, map[string]string{"crds/crd.yaml": text})
			if first := sameCompletion(c, "crds/crd.yaml", text, rule); len(first) == 0 {
				t.Errorf("no items in the rule at %v", rule)
			}
			object := objectOf(t, text)
			end := newText(object).position(len(object))
			other := start(t, nil, map[string]string{"crds/crd.yaml": text})
			if first := sameCompletion(other, "a.yaml", object, end); len(first) == 0 {
				t.Errorf("no items in the object\n%s", object)
			}
		})
	}
}

func sameCompletion(c *client, name, text string, at protocol.Position) []protocol.CompletionItem {
	c.t.Helper()
	seen := c.seen()
	c.versions[name] = 1
	c.openOnly(name, text)
	ask := func() []protocol.CompletionItem {
		var list protocol.CompletionList
		c.ask("textDocument/completion", c.at(name, int(at.Line), int(at.Character)), &list)
		return list.Items
	}
	first := ask()
	c.next(name, seen)
	label := func(item protocol.CompletionItem) string { return item.Label + " " + item.Detail }
	if then := ask(); !slices.EqualFunc(first, then, func(a, b protocol.CompletionItem) bool { return label(a) == label(b) }) {
		c.t.Errorf("%s: %d items directly after opening, then %d", name, len(first), len(then))
	}
	return first
}

func objectOf(t *testing.T, crd string) string {
	t.Helper()
	var of struct {
		Spec struct {
			Group    string
			Names    struct{ Kind string }
			Versions []struct{ Name string }
		}
	}
	if err := yaml.Unmarshal([]byte(strings.TrimPrefix(crd, "---\n")), &of); err != nil || len(of.Spec.Versions) == 0 {
		t.Fatalf("the CRD cannot be read: %v", err)
	}
	return fmt.Sprintf("apiVersion: %s/%s\nkind: %s\nmetadata:\n  name: a\n", of.Spec.Group, of.Spec.Versions[0].Name, of.Spec.Names.Kind)
}
