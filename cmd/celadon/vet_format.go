package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
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

// bar is how much of a limit a cost takes, on a terminal.
func (p *vetText) bar(cost, limit uint64) string {
	const width = 10
	if !p.terminal || limit == 0 {
		return ""
	}
	full := int(math.Ceil(float64(width) * math.Min(1, float64(cost)/float64(limit))))
	return " " + strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// number groups digits by three.
func number(n uint64) string {
	if n == math.MaxUint64 {
		return "unbounded"
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

// shorten makes a rule one line of at most n letters.
func shorten(rule string, n int) string {
	text := []rune(strings.Join(strings.Fields(rule), " "))
	if len(text) > n {
		return string(text[:n-1]) + "…"
	}
	return string(text)
}
