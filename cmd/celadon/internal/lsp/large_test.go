package lsp

import (
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
)

// TestManyDocuments opens files with many documents. The work for a file must grow linearly with its
// documents, or the test takes too long.
func TestManyDocuments(t *testing.T) {
	t.Parallel()
	crd := example(t, "crontab/crd.yaml")
	c := start(t, nil, nil)
	c.open("crd.yaml", crd)
	bad := strings.Replace(cronTab, "replicas: 1", "replicas: 11", 1)
	for name, one := range map[string]string{"objects.yaml": bad, "broken.yaml": "kind: CronTab\napiVersion: stable.example.com/v1\na: [\n", "rules.yaml": "x-kubernetes-validations: [{rule: a}]\nkind: List\n"} {
		text := strings.Repeat("---\n"+one, editor.MaxParts+10)
		got := c.open(name, text)
		if want := map[string]int{"objects.yaml": maxFindings + 1, "broken.yaml": maxFindings + 1}[name]; len(got) != want {
			t.Errorf("%s: %d diagnostics, want %d", name, len(got), want)
		}
		doc := protocol.Params{TextDocument: protocol.TextDocument{URI: c.uri(name)}}
		c.ask("textDocument/inlayHint", doc, nil)
		c.ask("textDocument/hover", protocol.Params{TextDocument: doc.TextDocument, Position: protocol.Position{Line: 40_000, Character: 3}}, nil)
		c.tell("textDocument/didClose", doc)
	}
}
