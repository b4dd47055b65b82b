package publish

import (
	_ "embed"
	"regexp"
	"strings"
	"text/template"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

//go:embed page.md
var markdownTemplate string

// Markdown returns the page in GitHub's Markdown. Markup and HTML in the CRD's text are escaped.
// Bare URLs stay, and GitHub turns them into links to the visible address.
func (p *Page) Markdown() ([]byte, error) {
	t, err := template.New("page").Funcs(template.FuncMap{"code": code, "fenced": fenced, "marked": marked}).Parse(markdownTemplate)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	err = t.Execute(&b, p)
	return []byte(untrusted.Text(b.String())), err
}

// fenced returns a code block with a fence that does not occur in text.
func fenced(language, text string) string {
	fence := fence(text, 3)
	return fence + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence + "\n"
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
