package publish

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/celadon-cel/celadon/internal/foreign"
)

//go:embed page.css
var style string

// HTML is the page as one file that loads nothing and runs nothing. Whatever the CRD
// says stays text.
func (p *Page) HTML() ([]byte, error) {
	h := &markup{}
	hash := sha256.Sum256([]byte(style))
	h.add(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'">
<title>{}</title>
<style>`, base64.StdEncoding.EncodeToString(hash[:]), p.CRD.Name)
	h.WriteString(style)
	h.add("</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n", p.CRD.Spec.Names.Kind)
	h.facts(p.About())
	h.add("\n<ul>")
	for _, v := range p.Versions {
		h.add("\n<li><a href=\"#{#}\"><code>{}</code></a>: <span", v.Name, v.Name)
		if v.Deprecated {
			h.add(` class="warn"`)
		}
		h.add(">{}</span></li>", v.Standing())
	}
	h.add("\n</ul>\n")
	for _, v := range p.Versions {
		h.version(v)
	}
	h.add("</main>\n</body>\n</html>\n")
	return []byte(foreign.Text(h.String())), nil
}

// markup is HTML in the making. It escapes as html/template does, which a test holds:
// that package would bring half as much code again, for it calls methods by names that
// nobody knows before, so that the linker has to keep all methods of all types.
type markup struct{ strings.Builder }

// add writes HTML in which {} stands for a text, between tags or in the quotes of an
// attribute, and {#} for a text in the fragment of a link.
func (h *markup) add(html string, texts ...string) {
	for _, text := range texts {
		before, rest, _ := strings.Cut(html, "{")
		h.WriteString(before)
		kind, rest, _ := strings.Cut(rest, "}")
		if kind == "#" {
			h.fragment(text)
		} else {
			_, _ = escapes.WriteString(h, text) // a Builder takes it all
		}
		html = rest
	}
	h.WriteString(html)
}

var escapes = strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;", ">", "&gt;")

// fragment writes all but letters, digits and -._~ as %xx.
func (h *markup) fragment(text string) {
	const hex = "0123456789abcdef"
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~", c) >= 0:
			h.WriteByte(c)
		default:
			h.WriteByte('%')
			h.WriteByte(hex[c>>4])
			h.WriteByte(hex[c&15])
		}
	}
}

func (h *markup) facts(facts []Fact) {
	if len(facts) == 0 {
		return
	}
	h.add("<dl>")
	for _, f := range facts {
		h.add("\n<dt>{}</dt><dd>{}</dd>", f.Name, f.Text)
	}
	h.add("\n</dl>")
}

func (h *markup) version(v *Version) {
	h.add("\n<h2 id=\"{}\">{}</h2>\n", v.Name, v.Name)
	h.facts(v.Extras())
	if v.Root == nil {
		h.add("\n<p>The schema is not structural: a server keeps nothing of it.</p>")
	} else {
		h.said(v.Root)
	}
	for _, x := range v.Examples {
		h.add("\n<h3>{}</h3>\n", x.Title)
		if x.Missing != "" {
			h.add("<p>{}</p>", x.Missing)
			continue
		}
		h.add("<p>{}</p>\n<pre><code>{}</code></pre>\n", x.Accepted(), x.YAML)
		if note := x.Note(); note != "" {
			h.add(`<p class="says">{}</p>`, note)
		}
	}
	if len(v.Fields) > 0 {
		h.fields(v)
	}
	h.add("\n")
}

// fewFields is how many fields need no table of contents.
const fewFields = 5

func (h *markup) fields(v *Version) {
	h.add("\n<h3>Fields</h3>")
	if len(v.Fields) > fewFields {
		h.add("\n<details><summary>All {} of them</summary>\n<ul class=\"toc\">", strconv.Itoa(len(v.Fields)))
		for _, f := range v.Fields {
			h.add("\n<li><a href=\"#{#}/{#}\">{}</a></li>", v.Name, f.Path, f.Path)
		}
		h.add("\n</ul></details>")
	}
	for _, f := range v.Fields {
		h.add("\n<section class=\"field\" id=\"{}/{}\">\n<h4><a href=\"#{#}/{#}\"><code>{}</code></a></h4>\n", v.Name, f.Path, v.Name, f.Path, f.Path)
		h.said(f)
		h.add("\n</section>")
	}
}

func (h *markup) said(f *Field) {
	if f.Says != "" {
		h.add("<p class=\"says\">{}</p>\n", f.Says)
	}
	if f.Description != "" {
		h.add("<p class=\"text\">{}</p>\n", f.Description)
	}
	h.facts(f.Also)
	for _, r := range f.Rules {
		h.add("\n<p>Rule")
		if r.Of != "" {
			h.add(" of <code>{}</code>", r.Of)
		}
		h.add(":</p>\n<pre><code>{}</code></pre>\n", r.Text)
		h.facts(r.Facts)
		if r.Cost != "" {
			h.add("\n<p class=\"says\">cost: {}</p>", r.Cost)
		}
	}
}
