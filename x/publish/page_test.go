package publish

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

func page(t testing.TB, crd *apiextensionsv1.CustomResourceDefinition) (markdown, html string) {
	t.Helper()
	p, err := NewPage(t.Context(), crd, Config{Steps: 200, Costs: map[engine.RuleRef]Cost{{Version: "v1", Path: "spec"}: {One: 5, All: 50, Limit: 100}}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := p.HTML()
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.Markdown()
	if err != nil {
		t.Fatal(err)
	}
	return string(text), string(data)
}

func TestPages(t *testing.T) {
	t.Parallel()
	crd := readCRD(t, "testdata/everything.yaml")
	markdown, html := page(t, crd)
	for name, got := range map[string]string{"everything.md": markdown, "everything.html": html} {
		if *update {
			if err := os.WriteFile("testdata/"+name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s (-file +now; -update writes it):\n%s", name, d)
		}
	}
	if again, more := page(t, readCRD(t, "testdata/everything.yaml")); again != markdown || more != html {
		t.Error("a second time gives other bytes")
	}
}

// harm is an attack that a CRD can put into any of its strings.
const harm = "</code></pre></style></title><script>alert(1)</script><img src=x onerror=alert(1)> [a](javascript:alert(1)) ![b](https://example.com/x.png) `c` ``` <!-- " +
	"{{.Hash}} & \x1b[31m \u202e\n# head\n1. one\n- two\n> three\n\n    four\n```\nfive\n=====\n| a | b |\n|---|---|\n<svg onload=alert(1)>" +
	"\r\r@r [r](https://r)\n+ six\n2) seven\n:-: \n*a* _b_ ~~c~~ $d$ @e &amp; \\[f](g)\n[h]: https://example.com"

func harmful() *apiextensionsv1.CustomResourceDefinition {
	value := apiextensionsv1.JSON{Raw: []byte(`"</script><script>alert(1)</script>"`)}
	schema := apiextensionsv1.JSONSchemaProps{
		Type: "object", Description: harm,
		Properties: map[string]apiextensionsv1.JSONSchemaProps{
			harm: {Type: "string", Description: harm, Pattern: harm, Default: &value, Enum: []apiextensionsv1.JSON{value}, Title: harm,
				XValidations: apiextensionsv1.ValidationRules{{Rule: harm, Message: harm, MessageExpression: harm, FieldPath: harm}}},
			"b": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string", Description: harm, XValidations: apiextensionsv1.ValidationRules{{Rule: harm, Message: harm}}}}},
		},
		AnyOf: []apiextensionsv1.JSONSchemaProps{{Required: []string{harm}}},
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = harm
	warning := harm
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: harm, Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: harm, Plural: harm, Singular: harm, ShortNames: []string{harm}, Categories: []string{harm}},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: harm, Served: true, Storage: true, Deprecated: true, DeprecationWarning: &warning,
			Schema:                   &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schema},
			AdditionalPrinterColumns: []apiextensionsv1.CustomResourceColumnDefinition{{Name: harm, JSONPath: harm}},
			SelectableFields:         []apiextensionsv1.SelectableField{{JSONPath: harm}},
		}},
	}
	return crd
}

func TestPagesKeepTextText(t *testing.T) {
	t.Parallel()
	markdown, html := page(t, harmful())
	tags := map[string]bool{}
	for _, tag := range regexp.MustCompile(`<(!?[a-zA-Z0-9]+)`).FindAllStringSubmatch(html, -1) {
		tags[tag[1]] = true
	}
	for _, own := range strings.Fields("!DOCTYPE html head meta title style body main h1 h2 h3 h4 dl dt dd ul li a code span p pre section details summary") {
		delete(tags, own)
	}
	if len(tags) > 0 {
		t.Errorf("the page has tags that are not its own: %v", tags)
	}
	for _, target := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if !strings.HasPrefix(target[1], "#") {
			t.Errorf("the page leads to %q", target[1])
		}
	}
	for name, text := range map[string]string{"html": html, "markdown": markdown} {
		if i := strings.IndexAny(text, "\x1b\t\r\u202e"); i >= 0 {
			t.Errorf("%s: a control at %d: %q", name, i, text[max(0, i-20):min(len(text), i+20)])
		}
	}
	for _, line := range strings.Split(outsideCode(markdown), "\n") {
		if followed.MatchString(line) || begun.MatchString(line) && !ownLine.MatchString(line) {
			t.Errorf("Markdown is followed: %q", line)
		}
	}
}

var (
	// followed matches a mark that is not escaped by a backslash.
	followed = regexp.MustCompile("(^|[^\\\\])(\\\\\\\\)*[`*_\\[\\]<>&|~$@!]")
	begun    = regexp.MustCompile(`^ *([#+=:-]|\d+[.)])|^ {4}`)
	ownLine  = regexp.MustCompile(`^(##? \\<|### ((Minimal |Full )?[Ee]xample|Fields)$|#### CODE$|- ([A-Za-z ]+: )?CODE)`)

	// Code in pages of harmful CRDs is delimited by more than three backticks.
	blocks = regexp.MustCompile("(?sm)^````+\n.*?\n````+$")
	spans  = regexp.MustCompile("````+.*?````+")
	short  = regexp.MustCompile("(^|[^\\\\`])`[^`\n]+`")
)

func outsideCode(text string) string {
	text = blocks.ReplaceAllString(text, "CODE")
	text = spans.ReplaceAllString(text, "CODE")
	return short.ReplaceAllString(text, "${1}CODE")
}

func TestExamplesAreReadAsDecided(t *testing.T) {
	t.Parallel()
	texts := []string{"a\u200bb", "\u202eb", "it's\u00ad: \"x\"", "one\n\ttwo\r", "x\n::error::y", "a ##[b", "```\n<b>&amp;</b>", "end\n\n\n"}
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	want := map[string]any{}
	for i, text := range texts {
		name, value := fmt.Sprint("f", i), apiextensionsv1.JSON{}
		if err := json.Unmarshal([]byte(strconv.QuoteToASCII(text)), &value); err != nil {
			t.Fatal(err)
		}
		spec.Required = append(spec.Required, name)
		spec.Properties[name] = apiextensionsv1.JSONSchemaProps{Type: "string", Enum: []apiextensionsv1.JSON{value}}
		want[name] = text
	}
	markdown, page := page(t, crdOf(apiextensionsv1.JSONSchemaProps{
		Type: "object", Required: []string{"spec"}, Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec},
	}))
	for name, all := range map[string][][]string{
		"markdown": regexp.MustCompile("(?sm)^````yaml\n(.*?)^````$").FindAllStringSubmatch(markdown, -1),
		"html":     regexp.MustCompile("(?s)<pre><code>(apiVersion.*?)</code></pre>").FindAllStringSubmatch(page, -1),
	} {
		if len(all) != 2 {
			t.Errorf("%s: %d examples, want 2", name, len(all))
		}
		for _, example := range all {
			text := example[1]
			if name == "html" {
				text = html.UnescapeString(text)
			}
			var got struct{ Spec map[string]any }
			if err := yaml.Unmarshal([]byte(text), &got); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, text)
			}
			if d := cmp.Diff(want, got.Spec); d != "" {
				t.Errorf("%s (-decided +read):\n%s", name, d)
			}
		}
	}
}

func TestStyleIsAllowed(t *testing.T) {
	t.Parallel()
	_, html := page(t, readCRD(t, root+"examples/crontab/crd.yaml"))
	_, rest, _ := strings.Cut(html, "<style>")
	own, _, _ := strings.Cut(rest, "</style>")
	hash := sha256.Sum256([]byte(own))
	if want := strings.ReplaceAll(base64.StdEncoding.EncodeToString(hash[:]), "+", "&#43;"); !strings.Contains(html, "style-src 'sha256-"+want+"'") {
		t.Error("the policy forbids the page's own style")
	}
	if bytes.Contains([]byte(html), []byte("style=")) || strings.Contains(html, "http://") || strings.Contains(html, "https://") {
		t.Error("the page has styles that the policy forbids, or loads something")
	}
}
