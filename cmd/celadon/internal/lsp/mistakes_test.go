package lsp

import (
	"os"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
)

// TestMistakes checks that code actions correct 95 % of the mistakes that newcomers make. A mistake without a
// known correction only needs an error.
func TestMistakes(t *testing.T) {
	t.Parallel()
	const dir = "../../../../x/assist/testdata/"
	list, err := os.ReadFile(dir + "mistakes.txt")
	if err != nil {
		t.Fatal(err)
	}
	crd, err := os.ReadFile(dir + "database.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, nil, nil)
	tried, fixed := 0, 0
	for line := range strings.Lines(string(list)) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(columns) != 3 || columns[0] != "" || testing.Short() && tried == 20 {
			continue
		}
		text := withRootRule(t, crd, columns[1])
		tried++
		diagnostics := c.open("crd.yaml", text)
		for _, d := range diagnostics {
			if d.Severity != protocol.Error {
				continue
			}
			if columns[2] == "" {
				fixed++
				break
			}
			var actions []protocol.CodeAction
			c.ask("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": c.uri("crd.yaml")}, "range": d.Range, "context": map[string]any{"diagnostics": diagnostics}}, &actions)
			if correct(t, c, text, columns[2], actions) {
				fixed++
				break
			}
			t.Logf("%s: no action makes it %s", columns[1], columns[2])
		}
	}
	if t.Logf("%d of %d", fixed, tried); fixed*100 < tried*95 {
		t.Errorf("%d of %d mistakes are fixed, want 95 %%", fixed, tried)
	}
}

func correct(t *testing.T, c *client, text, want string, actions []protocol.CodeAction) bool {
	for _, action := range actions {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal([]byte(applied(t, text, c.uri("crd.yaml"), action)), &crd); err != nil {
			t.Fatal(err)
		}
		if rules := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.XValidations; len(rules) == 1 && rules[0].Rule == want {
			return true
		}
	}
	return false
}

func withRootRule(t *testing.T, data []byte, rule string) string {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(data, &crd); err != nil {
		t.Fatal(err)
	}
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.XValidations = apiextensionsv1.ValidationRules{{Rule: rule}}
	out, err := yaml.Marshal(&crd)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
