package print

import (
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// yamlPrinter writes accepted objects as they would be stored. Findings go to stderr, so that the
// output can be piped.
type yamlPrinter struct {
	w     *untrusted.Writer
	rest  *textPrinter
	begun bool
}

func (p *yamlPrinter) CRD(c *finding.CRD) error { return p.rest.CRD(c) }

func (p *yamlPrinter) Object(o *finding.Object) error {
	if o.Persisted != nil {
		text, err := untrusted.YAML(o.Persisted)
		if err != nil {
			return err
		}
		if p.begun {
			text = append([]byte("---\n"), text...)
		}
		p.begun = true
		if _, err := p.w.Write(text); err != nil {
			return err
		}
	}
	return p.rest.Object(o)
}

func (p *yamlPrinter) End(s *finding.Summary) error { return p.rest.End(s) }

// diff writes how the persisted object differs from the input, in color on a terminal.
func (p *textPrinter) diff(b *strings.Builder, diff []byte) {
	for line := range strings.Lines(string(diff)) {
		text := untrusted.Sprintf("%s\n", strings.TrimSuffix(line, "\n"))
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			b.WriteString(p.paint(untrusted.Bold, text))
		case line[0] == '-':
			b.WriteString(p.paint(untrusted.Red, text))
		case line[0] == '+':
			b.WriteString(p.paint(untrusted.Green, text))
		default:
			b.WriteString(string(text))
		}
	}
}
