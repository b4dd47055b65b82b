package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/celadon-cel/celadon/internal/foreign"
)

func (p *vetText) paint(c foreign.Colour, text foreign.Own) foreign.Own {
	if !p.terminal {
		return text
	}
	return foreign.Paint(c, text)
}

var painted = regexp.MustCompile("\x1b\\[[0-9]*m")

// columns is how wide a text stands on a terminal.
func columns(text foreign.Own) int {
	return runewidth.StringWidth(painted.ReplaceAllString(string(text), ""))
}

// line writes one line, on a terminal broken between words where it is too
// long; what follows is set in by two more.
func (p *vetText) line(b *strings.Builder, indent int, text foreign.Own) {
	left := strings.Repeat(" ", indent)
	line := left
	for i, word := range strings.Split(string(text), " ") {
		switch {
		case i == 0:
			line += word
		case p.width > 0 && columns(foreign.Own(line+" "+word)) > p.width:
			b.WriteString(line + "\n")
			line = left + "  " + word
		default:
			line += " " + word
		}
	}
	b.WriteString(line + "\n")
}

// bar is how much of a limit a cost takes, on a terminal.
func (p *vetText) bar(cost, limit uint64) foreign.Own {
	if !p.terminal || limit == 0 {
		return ""
	}
	width := 10
	if p.width < 80 {
		width = 5
	}
	full := int(math.Ceil(float64(width) * math.Min(1, float64(cost)/float64(limit))))
	filled := foreign.Own(strings.Repeat("█", full))
	if cost > limit {
		filled = p.paint(foreign.Red, filled)
	}
	return " " + filled + foreign.Own(strings.Repeat("░", width-full))
}

// number groups digits by three; of great numbers it gives the size.
func number(n uint64) foreign.Own {
	const great = 1_000_000_000_000
	switch {
	case n == math.MaxUint64:
		return ">1e19"
	case n >= great:
		return foreign.Own(strings.Replace(fmt.Sprintf("%.2e", float64(n)), "e+", "e", 1))
	}
	text := strconv.FormatUint(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return foreign.Own(text)
}

func percent(part, whole uint64) foreign.Own {
	p := 100 * float64(part) / float64(whole)
	switch {
	case p > 9999:
		return ">100x"
	case p > 0 && p < 0.1:
		return "<0.1%"
	case p >= 10 || p == 0:
		return foreign.Sprintf("%.0f%%", p)
	}
	return foreign.Sprintf("%.1f%%", p)
}

// shorten makes a rule one line of at most n columns.
func shorten(rule string, n int) foreign.Own {
	line := foreign.Line(strings.Join(strings.Fields(rule), " "))
	return foreign.Own(runewidth.Truncate(string(line), n, "…"))
}
