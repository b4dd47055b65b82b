package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

type colour string

const (
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
	bold   colour = "1"
)

func (p *vetText) paint(c colour, text string) string {
	if !p.terminal {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

var painted = regexp.MustCompile("\x1b\\[[0-9]*m")

// columns is how wide a text stands on a terminal.
func columns(text string) int {
	return runewidth.StringWidth(painted.ReplaceAllString(text, ""))
}

// line writes one line, on a terminal broken between words where it is too
// long; what follows is set in by two more.
func (p *vetText) line(b *strings.Builder, indent int, text string) {
	left := strings.Repeat(" ", indent)
	line := left
	for i, word := range strings.Split(text, " ") {
		switch {
		case i == 0:
			line += word
		case p.width > 0 && columns(line)+1+columns(word) > p.width:
			b.WriteString(line + "\n")
			line = left + "  " + word
		default:
			line += " " + word
		}
	}
	b.WriteString(line + "\n")
}

// bar is how much of a limit a cost takes, on a terminal.
func (p *vetText) bar(cost, limit uint64) string {
	if !p.terminal || limit == 0 {
		return ""
	}
	width := 10
	if p.width < 80 {
		width = 5
	}
	full := int(math.Ceil(float64(width) * math.Min(1, float64(cost)/float64(limit))))
	filled := strings.Repeat("█", full)
	if cost > limit {
		filled = p.paint(red, filled)
	}
	return " " + filled + strings.Repeat("░", width-full)
}

// number groups digits by three; of great numbers it gives the size.
func number(n uint64) string {
	const great = 1_000_000_000_000
	switch {
	case n == math.MaxUint64:
		return ">1e19"
	case n >= great:
		return strings.Replace(fmt.Sprintf("%.2e", float64(n)), "e+", "e", 1)
	}
	text := strconv.FormatUint(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func percent(part, whole uint64) string {
	p := 100 * float64(part) / float64(whole)
	switch {
	case p > 9999:
		return ">100x"
	case p > 0 && p < 0.1:
		return "<0.1%"
	case p >= 10 || p == 0:
		return fmt.Sprintf("%.0f%%", p)
	}
	return fmt.Sprintf("%.1f%%", p)
}

// shorten makes a rule one line of at most n columns.
func shorten(rule string, n int) string {
	return runewidth.Truncate(clean(strings.Join(strings.Fields(rule), " ")), n, "…")
}

// clean keeps what a CRD has in it from steering the terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
