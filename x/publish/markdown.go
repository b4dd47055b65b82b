package publish

import (
	"regexp"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// Markdown returns the page in GitHub's Markdown. Markup and HTML in the CRD's text are escaped.
// Bare URLs stay, and GitHub turns them into links to the visible address.
func (p *Page) Markdown() []byte {
	m := &markdown{}
	m.line("# " + marked(p.CRD.Spec.Names.Kind))
	m.line("")
	m.facts(p.About())
	for _, v := range p.Versions {
		m.line("- " + code(v.Name) + ": " + marked(v.Lifecycle()))
	}
	for _, v := range p.Versions {
		m.version(v)
	}
	return []byte(untrusted.Text(m.String()))
}

type markdown struct{ strings.Builder }

func (m *markdown) line(text string) {
	m.WriteString(text)
	m.WriteByte('\n')
}

func (m *markdown) paragraph(text string) {
	m.line("")
	m.line(text)
}

func (m *markdown) facts(all []Fact) {
	for _, f := range all {
		m.line("- " + f.Name + ": " + code(f.Text))
	}
}

func (m *markdown) version(v *Version) {
	m.paragraph("## " + marked(v.Name))
	if extras := v.Extras(); len(extras) > 0 {
		m.line("")
		m.facts(extras)
	}
	if v.Root != nil {
		m.field(v.Root)
	} else {
		m.paragraph("The schema is not structural, so the server drops it.")
	}
	for _, x := range v.Examples {
		m.example(x)
	}
	if len(v.Fields) > 0 {
		m.paragraph("### Fields")
	}
	for _, f := range v.Fields {
		m.paragraph("#### " + code(f.Path))
		m.field(f)
	}
}

func (m *markdown) field(f *Field) {
	if f.Allowed != "" {
		m.paragraph(marked(f.Allowed))
	}
	if f.Description != "" {
		m.paragraph(marked(f.Description))
	}
	for _, fact := range f.Also {
		m.paragraph(fact.Name + ": " + code(fact.Text))
	}
	for _, r := range f.Rules {
		of := ""
		if r.Of != "" {
			of = " of " + code(r.Of)
		}
		m.paragraph("Rule" + of + ":")
		m.fenced("", r.Text)
		if len(r.Facts) > 0 || r.Cost != "" {
			m.line("")
		}
		m.facts(r.Facts)
		if r.Cost != "" {
			m.line("- cost: " + r.Cost)
		}
	}
}

func (m *markdown) example(x Example) {
	m.paragraph("### " + x.Title)
	if x.Missing != "" {
		m.paragraph(marked(x.Missing))
		return
	}
	m.paragraph(x.Accepted())
	m.fenced("yaml", x.YAML)
	if words := x.Note(); words != "" {
		m.paragraph(marked(words))
	}
}

// fenced writes a code block with a fence that does not occur in text.
func (m *markdown) fenced(language, text string) {
	fence := fence(text, 3)
	m.line("")
	m.line(fence + language)
	m.line(strings.TrimSuffix(text, "\n"))
	m.line(fence)
}

// code returns text as an inline code span, with as many backticks as needed.
func code(text string) string {
	line := lex.OneLine(text)
	marks := fence(line, 1)
	if strings.HasPrefix(line, "`") || strings.HasSuffix(line, "`") || strings.TrimSpace(line) == "" {
		line = " " + line + " "
	}
	return marks + line + marks
}

var backticks = regexp.MustCompile("`+")

func fence(text string, minLength int) string {
	for _, run := range backticks.FindAllString(text, -1) {
		minLength = max(minLength, len(run)+1)
	}
	return strings.Repeat("`", minLength)
}

var (
	// Characters with a meaning anywhere in Markdown, and at the beginning of a line.
	marks     = regexp.MustCompile("[\\\\`*_\\[\\]<>&|~$@!]")
	beginning = regexp.MustCompile(`^[#+=:-]`)
	numbered  = regexp.MustCompile(`^(\d+)([.)])`)
)

// marked escapes Markdown in text, line by line.
func marked(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = marks.ReplaceAllString(strings.TrimSpace(line), `\$0`)
		switch {
		case numbered.MatchString(line):
			line = numbered.ReplaceAllString(line, `$1\$2`)
		case beginning.MatchString(line):
			line = `\` + line
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}
