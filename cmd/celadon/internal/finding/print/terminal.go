package print

import (
	"strings"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// paint colors text on a terminal, line by line.
func (p *textPrinter) paint(c untrusted.Color, text untrusted.Safe) string {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		body := strings.TrimSuffix(line, "\n")
		b.WriteString(string(p.w.Paint(c, untrusted.Safe(body))) + line[len(body):])
	}
	return b.String()
}

func (p *textPrinter) layout() Layout { return Layout{Color: p.w.Colors, Width: p.Width} }
