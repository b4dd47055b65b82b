package publish

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// How it works: html/template would keep the linker from removing unused methods, which makes the
// command 8 MB larger. Therefore the page is written by htmlWriter, whose methods escape all texts.
// Only constant strings become markup.

//go:embed page.css
var style string

// HTML returns the page as a single file without scripts or external resources. All text of the CRD is
// escaped.
func (p *Page) HTML() ([]byte, error) {
	var w htmlWriter
	hash := sha256.Sum256([]byte(style))
	w.markup(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-`)
	w.text(base64.StdEncoding.EncodeToString(hash[:]))
	w.markup(`'; base-uri 'none'; form-action 'none'">
<title>`)
	w.text(p.CRD.Name)
	w.markup("</title>\n<style>")
	w.markup(markup(style))
	w.markup("</style>\n</head>\n<body>\n<main>\n<h1>")
	w.text(p.CRD.Spec.Names.Kind)
	w.markup("</h1>\n")
	w.facts(p.About())
	w.markup("\n<ul>")
	for _, v := range p.Versions {
		w.markup("\n<li><a href=\"#")
		w.fragment(v.Name)
		w.markup(`"><code>`)
		w.text(v.Name)
		w.markup("</code></a>: <span")
		if v.Deprecated {
			w.markup(` class="warn"`)
		}
		w.markup(">")
		w.text(v.Lifecycle())
		w.markup("</span></li>")
	}
	w.markup("\n</ul>\n")
	for _, v := range p.Versions {
		w.version(v)
	}
	w.markup("</main>\n</body>\n</html>\n")
	return []byte(untrusted.Text(w.b.String())), nil
}

// markup is HTML. It is a type of its own, so that only constants can be passed without a conversion.
type markup string

// An htmlWriter writes HTML.
type htmlWriter struct{ b strings.Builder }

func (w *htmlWriter) markup(m markup) { w.b.WriteString(string(m)) }

// htmlEscapes escapes text for elements and for attributes in quotes.
var htmlEscapes = strings.NewReplacer("\x00", "\ufffd", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;", ">", "&gt;")

// text writes text of an element, or of an attribute in quotes.
func (w *htmlWriter) text(text string) { w.b.WriteString(htmlEscapes.Replace(text)) }

// fragment writes the fragment of a URL in an attribute.
func (w *htmlWriter) fragment(text string) {
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~", c) >= 0:
			w.b.WriteByte(c)
		default:
			fmt.Fprintf(&w.b, "%%%02x", c)
		}
	}
}

// element writes text between two tags.
func (w *htmlWriter) element(before markup, text string, after markup) {
	w.markup(before)
	w.text(text)
	w.markup(after)
}

func (w *htmlWriter) facts(facts []Fact) {
	if len(facts) == 0 {
		return
	}
	w.markup("<dl>")
	for _, f := range facts {
		w.element("\n<dt>", f.Name, "</dt>")
		w.element("<dd>", f.Text, "</dd>")
	}
	w.markup("\n</dl>")
}

func (w *htmlWriter) version(v *Version) {
	w.element("\n<h2 id=\"", v.Name, `">`)
	w.element("", v.Name, "</h2>\n")
	w.facts(v.Extras())
	if v.Root == nil {
		w.markup("\n<p>The schema is not structural: a server keeps nothing of it.</p>")
	} else {
		w.field(v.Root)
	}
	for i := range v.Examples {
		w.example(&v.Examples[i])
	}
	if len(v.Fields) > 0 {
		w.fields(v)
	}
	w.markup("\n")
}

func (w *htmlWriter) example(x *Example) {
	w.element("\n<h3>", x.Title, "</h3>\n")
	if x.Missing != "" {
		w.element("<p>", x.Missing, "</p>")
		return
	}
	w.element("<p>", x.Accepted(), "</p>\n")
	w.element("<pre><code>", x.YAML, "</code></pre>\n")
	if note := x.Note(); note != "" {
		w.element(`<p class="says">`, note, "</p>")
	}
}

// A page has a list of the fields if it has more than shownFields.
const shownFields = 5

func (w *htmlWriter) fields(v *Version) {
	w.markup("\n<h3>Fields</h3>")
	if len(v.Fields) > shownFields {
		w.element("\n<details><summary>All ", fmt.Sprint(len(v.Fields)), " of them</summary>\n<ul class=\"toc\">")
		for _, f := range v.Fields {
			w.markup("\n<li>")
			w.link(v, f)
			w.element("", f.Path, "</a></li>")
		}
		w.markup("\n</ul></details>")
	}
	for _, f := range v.Fields {
		w.element("\n<section class=\"field\" id=\"", v.Name+"/"+f.Path, "\">\n<h4>")
		w.link(v, f)
		w.element("<code>", f.Path, "</code></a></h4>\n")
		w.field(f)
		w.markup("\n</section>")
	}
}

// link writes the start of a link to a field.
func (w *htmlWriter) link(v *Version, f *Field) {
	w.markup(`<a href="#`)
	w.fragment(v.Name)
	w.markup("/")
	w.fragment(f.Path)
	w.markup(`">`)
}

func (w *htmlWriter) field(f *Field) {
	if f.Allowed != "" {
		w.element(`<p class="says">`, f.Allowed, "</p>\n")
	}
	if f.Description != "" {
		w.element(`<p class="text">`, f.Description, "</p>\n")
	}
	w.facts(f.Also)
	for i := range f.Rules {
		r := &f.Rules[i]
		w.markup("\n<p>Rule")
		if r.Of != "" {
			w.element(" of <code>", r.Of, "</code>")
		}
		w.element(":</p>\n<pre><code>", r.Text, "</code></pre>\n")
		w.facts(r.Facts)
		if r.Cost != "" {
			w.element("\n<p class=\"says\">cost: ", r.Cost, "</p>")
		}
	}
}
