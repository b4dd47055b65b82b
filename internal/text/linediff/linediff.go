// Package linediff formats the differences between two texts like diff -u.
//
//	text := linediff.Unified("crd.yaml", "crd.yaml (unsaved)", before, after)
package linediff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// How it works: Myers' algorithm finds the smallest number of lines to delete and insert.
// Algorithms that anchor on lines that occur only once, such as Go's internal/diff, report half of
// a CRD as changed because its versions repeat each other.

// context is the number of unchanged lines around a change.
const context = 3

// Unified returns the difference of before and after in unified format, or nil if they are equal.
func Unified(nameBefore, nameAfter string, before, after []byte) []byte {
	if bytes.Equal(before, after) {
		return nil
	}
	edits := script(slices.Collect(strings.Lines(string(before))), slices.Collect(strings.Lines(string(after))))
	var b bytes.Buffer
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", nameBefore, nameAfter)
	for len(edits) > 0 {
		var hunk []edit
		hunk, edits = cut(edits)
		write(&b, hunk)
	}
	return b.Bytes()
}

// An edit is a line that is kept (' '), deleted ('-'), or inserted ('+'), with its zero-based
// position before and after.
type edit struct {
	op            byte
	line          string
	before, after int
}

// maxEdits limits the search, whose memory use is quadratic. With more edits, all lines between the
// common start and end are shown as deleted and inserted.
const maxEdits = 1000

func script(a, b []string) (edits []edit) {
	front, back := 0, 0
	for front < min(len(a), len(b)) && a[front] == b[front] {
		front++
	}
	for back < min(len(a), len(b))-front && a[len(a)-1-back] == b[len(b)-1-back] {
		back++
	}
	x, y := len(a), len(b)
	keep := func(n int) {
		for range n {
			x, y = x-1, y-1
			edits = append(edits, edit{' ', a[x], x, y})
		}
	}
	remove := func() { x--; edits = append(edits, edit{'-', a[x], x, y}) }
	insert := func() { y--; edits = append(edits, edit{'+', b[y], x, y}) }
	keep(back)
	trace := search(a[front:x], b[front:y])
	for trace == nil && y > front {
		insert()
	}
	for trace == nil && x > front {
		remove()
	}
	for d := len(trace) - 1; d > 0; d-- {
		v, k := trace[d-1], x-y
		if k == -d || k != d && v[d-1+k-1] < v[d-1+k+1] {
			keep(x - front - v[d-1+k+1])
			insert()
		} else {
			keep(x - front - v[d-1+k-1] - 1)
			remove()
		}
	}
	keep(x)
	slices.Reverse(edits)
	return edits
}

// search computes, for each number of edits d, how far each diagonal k reaches: trace[d][d+k] is
// the line of a. It returns nil if there are more than maxEdits edits.
func search(a, b []string) (trace [][]int) {
	for d := 0; d <= min(len(a)+len(b), maxEdits); d++ {
		v := make([]int, 2*d+1)
		for k := -d; k <= d; k += 2 {
			x := 0
			if d > 0 {
				before := trace[d-1]
				if k == -d || k != d && before[d-1+k-1] < before[d-1+k+1] {
					x = before[d-1+k+1]
				} else {
					x = before[d-1+k-1] + 1
				}
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			v[d+k] = x
			if x >= len(a) && x-k >= len(b) {
				return append(trace, v)
			}
		}
		trace = append(trace, v)
	}
	return nil
}

func cut(edits []edit) (hunk, rest []edit) {
	first := slices.IndexFunc(edits, func(e edit) bool { return e.op != ' ' })
	if first < 0 {
		return nil, nil
	}
	last := first
	for i := first; i < len(edits) && i-last <= 2*context; i++ {
		if edits[i].op != ' ' {
			last = i
		}
	}
	end := min(last+context+1, len(edits))
	return edits[max(0, first-context):end], edits[end:]
}

func write(b *bytes.Buffer, hunk []edit) {
	if len(hunk) == 0 {
		return
	}
	before, after := 0, 0
	for _, e := range hunk {
		if e.op != '+' {
			before++
		}
		if e.op != '-' {
			after++
		}
	}
	fmt.Fprintf(b, "@@ -%s +%s @@\n", span(hunk[0].before, before), span(hunk[0].after, after))
	for _, e := range hunk {
		b.WriteByte(e.op)
		b.WriteString(e.line)
		if !strings.HasSuffix(e.line, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

func span(start, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, n)
}
