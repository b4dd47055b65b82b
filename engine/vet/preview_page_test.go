package vet_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

var updatePage = flag.Bool("update-preview", false, "write docs/kubernetes-1.38.md")

const (
	previewPage = "../../docs/kubernetes-1.38.md"
	oldMinor    = "1.37"
	newMinor    = "1.38"
)

const pageSchema = `{type: object, properties: {spec: {type: object, x-kubernetes-validations: [{rule: %q}], properties: {
  url: {type: string, maxLength: 2000}, urls: {type: array, maxItems: 100, items: {type: string, maxLength: 2000}},
  cidr: {type: string, maxLength: 50}, name: {type: string, minLength: 2}, items: {type: array, minItems: 2, maxItems: 100, items: {type: string, maxLength: 100}},
  labels: {type: object, minProperties: 1, additionalProperties: {type: string}}}}}}`

var (
	pageRules = []string{
		"type(self.items) == type(self.urls)",
		"self.urls.all(u, url(u).getHostname().matches('^[a-z0-9.-]+$'))",
		"url(self.url).getEscapedPath().contains('..')",
		"self.url.split('/')[2].matches('^[a-z0-9.-]+$')",
		"has(self.name) == has(self.url)",
		"self.items.includes('a')",
		"cidr(self.cidr).isMask()",
		"sze(self.items) > 0",
		"list.range(3).size() == 3",
		"name == 'a'",
	}
	pageObjects = []string{"name: a", "items: [a]", "labels: {}"}
)

func TestPreviewPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("| Rule | " + oldMinor + " | " + newMinor + " |\n|---|---|---|\n")
	for _, rule := range pageRules {
		crd := pageCRD(t, rule)
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", rule, ruleAnswer(t, crd, oldMinor), ruleAnswer(t, crd, newMinor))
	}
	b.WriteString("\n| Object | " + oldMinor + " | " + newMinor + " |\n|---|---|---|\n")
	for _, object := range pageObjects {
		crd := pageCRD(t, "true")
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", object, objectAnswer(t, crd, object, oldMinor), objectAnswer(t, crd, object, newMinor))
	}
	comparePart(t, "examples", b.String())
}

func TestPreviewCorpus(t *testing.T) {
	files := corpus.CRDFiles(t)
	crds, rules, cheaper, dearer, verdicts := 0, 0, 0, 0, []string{}
	for _, file := range files {
		crd := corpus.ReadCRD(t, file)
		r, err := vet.VetCRD(t.Context(), crd, vet.Config{KubeVersions: []string{oldMinor, newMinor}, VerdictOnly: true})
		if err != nil || len(r.KubeVersions) != 2 {
			continue
		}
		was, is := r.KubeVersions[0], r.KubeVersions[1]
		crds++
		if was.Accepted != is.Accepted {
			verdicts = append(verdicts, crd.Name)
		}
		for i := range min(len(was.Rules), len(is.Rules)) {
			rules++
			switch {
			case is.Rules[i].Total < was.Rules[i].Total:
				cheaper++
			case is.Rules[i].Total > was.Rules[i].Total:
				dearer++
			}
		}
	}
	text := fmt.Sprintf("Of %d CRDs of public projects with %d rules, %d CRDs have another verdict in %s than in %s. %d rules are\ncheaper, and %d are more expensive.\n",
		crds, rules, len(verdicts), newMinor, oldMinor, cheaper, dearer)
	t.Log(text, verdicts)
	comparePart(t, "corpus", text)
}

// comparePart compares the text between two comments in the page with a generated text, or writes it.
func comparePart(t *testing.T, name, text string) {
	t.Helper()
	data, err := os.ReadFile(previewPage)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- end -->"
	before, rest, ok := strings.Cut(string(data), begin)
	part, after, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Fatalf("%s has no part %s", previewPage, name)
	case *updatePage:
		if err := os.WriteFile(previewPage, []byte(before+begin+text+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case part != text:
		t.Errorf("%s differs: go test ./engine/vet -run TestPreview -update-preview\n%s", previewPage, text)
	}
}

func pageCRD(t *testing.T, rule string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	props := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.Unmarshal(fmt.Appendf(nil, pageSchema, rule), props); err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name, crd.Spec.Group, crd.Spec.Scope = "things.example.com", "example.com", apiextensionsv1.NamespaceScoped
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{
		{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props}},
	}
	return crd
}

func ruleAnswer(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, version string) string {
	t.Helper()
	r, err := vet.VetCRD(t.Context(), crd, vet.Config{KubeVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	if r.Accepted {
		return fmt.Sprint("accepted, estimated cost ", r.Versions[0].Rules[0].EstimatedCost)
	}
	text, _, _ := strings.Cut(r.Causes[len(r.Causes)-1].Detail, "\n")
	text, _, _ = strings.Cut(text, " (try simplifying")
	if _, message, ok := strings.Cut(text, "<input>:"); ok {
		_, text, _ = strings.Cut(message, ": ")
	}
	return "rejected: " + text
}

func objectAnswer(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, spec, version string) string {
	t.Helper()
	e, err := engine.Compile(crd, engine.Config{KubeVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	text := "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a, namespace: a}\nspec:\n  " + spec + "\n"
	result, err := e.ValidateYAML(context.Background(), []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{}
	for _, c := range result.Causes {
		texts = append(texts, fmt.Sprintf("%s (%s)", c.Message, c.Reason))
	}
	return strings.Join(texts, "; ")
}
