package vet

import (
	"math"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// line writes a line. The layout of the report folds it.
func (p *textPrinter) line(b *strings.Builder, indent int, text untrusted.Safe) {
	b.WriteString(strings.Repeat(" ", indent) + string(text) + "\n")
}

// bar returns a bar for the share of a limit, on a terminal. A share below 0.1% has no bar.
func (p *textPrinter) bar(cost, limit uint64) untrusted.Safe {
	if !p.out.Colors || cost == 0 || cost < limit/1000 || limit == 0 {
		return ""
	}
	width := 10
	switch {
	case p.width < 70:
		width = 3
	case p.width < 80:
		width = 5
	}
	full := int(math.Ceil(float64(width) * math.Min(1, float64(cost)/float64(limit))))
	filled := untrusted.Safe(strings.Repeat("█", full))
	if cost > limit {
		filled = p.out.Paint(untrusted.Red, filled)
	}
	return " " + filled + untrusted.Safe(strings.Repeat("░", width-full))
}

// oneLine returns a rule on one line of at most n columns.
func oneLine(rule string, n int) untrusted.Safe {
	return untrusted.Safe(termwidth.Cut(string(untrusted.Line(lex.Flat(rule))), n))
}
