package publish

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/internal/foreign"
)

// templated is the page as html/template writes it, which knows what it escapes for.
func templated(t testing.TB, p *Page) string {
	t.Helper()
	pages, err := template.ParseFiles("testdata/page.html.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256([]byte(style))
	var b bytes.Buffer
	err = pages.Execute(&b, struct {
		*Page
		Hash  string
		Style template.CSS
	}{p, base64.StdEncoding.EncodeToString(hash[:]), template.CSS(style)})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(string(foreign.Text(b.String())), "\n") + "\n" // lines between its parts
}

// sameAsTemplated holds the page against html/template's.
func sameAsTemplated(t testing.TB, p *Page) {
	t.Helper()
	got, err := p.HTML()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(templated(t, p), string(got)); diff != "" {
		t.Errorf("-html/template +ours\n%s", diff)
	}
}

// TestHTMLIsEscaped: pages of harmful CRDs are what html/template makes of them.
func TestHTMLIsEscaped(t *testing.T) {
	t.Parallel()
	harmfulPage, err := NewPage(t.Context(), harmful(), Config{Steps: 5})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := NewPage(t.Context(), readCRD(t, "testdata/everything.yaml"), Config{Steps: 5})
	if err != nil {
		t.Fatal(err)
	}
	sameAsTemplated(t, harmfulPage)
	sameAsTemplated(t, plain)
	var every []byte
	for c := range 256 {
		every = append(every, byte(c))
	}
	for name, text := range map[string]string{"bytes": string(every), "letters": "äß+世界 \u2028\ufeff", "cut": "a\xe4", "link": "javascript:alert(1)"} {
		f := &Field{Path: text, Says: text, Description: text, Also: []Fact{{text, text}}, Rules: []Rule{{Of: text, Text: text, Facts: []Fact{{text, text}}, Cost: text}}}
		v := *plain.Versions[0]
		v.Root, v.Fields = f, []*Field{f, f, f, f, f, f}
		v.Examples = []Example{{Title: text, YAML: text, MadeUp: []string{text}}, {Title: text, Missing: text}}
		t.Run(name, func(t *testing.T) {
			sameAsTemplated(t, &Page{CRD: plain.CRD, Versions: []*Version{&v, {CustomResourceDefinitionVersion: v.CustomResourceDefinitionVersion}}})
		})
	}
}
