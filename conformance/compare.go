package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// Difference is a difference between an expected result and the engine's.
type Difference struct {
	// Reason groups differences with the same cause.
	Reason string
	// Detail describes this difference.
	Detail string
}

// aspects selects what to compare in addition to verdict and causes.
type aspects struct {
	code, warnings, object bool
	// here is set if the expected result is the current server's response to the same request, so that metadata is
	// also compared.
	here bool
}

func compare(want, ours Answer, also aspects) []Difference {
	if want.Allowed != ours.Allowed {
		return []Difference{verdictDifference(want, ours)}
	}
	var out []Difference
	if also.code && want.Code != ours.Code {
		out = append(out, Difference{"HTTP code", lines(fmt.Sprintf("want %d, got %d", want.Code, ours.Code), want.Message)})
	}
	out = append(out, compareCauses(want.Causes, ours.Causes)...)
	if len(out) == 0 && len(want.Causes) < 2 && want.Message != ours.Message {
		out = append(out, Difference{"message", lines("want "+want.Message, "got  "+ours.Message)})
	}
	if also.warnings {
		out = append(out, compareWarnings(want.Warnings, ours.Warnings)...)
	}
	if also.object && want.Allowed {
		fields := chosenByRun
		if also.here {
			fields = serverMetadata(want, ours)
		}
		out = append(out, compareObjects("persisted object", want.Object, ours.Object, fields)...)
	}
	return out
}

func verdictDifference(right, ours Answer) Difference {
	if right.Allowed {
		return Difference{"rejected, want accepted: " + genericMessage(ours), ours.Message}
	}
	return Difference{"accepted, want rejected: " + genericMessage(right), right.Message}
}

// compareCauses compares causes as multisets, because the server ranges over Go maps and so returns
// them in random order.
func compareCauses(right, ours []Cause) []Difference {
	missing, extra := subtract(right, ours), subtract(ours, right)
	if len(missing)+len(extra) == 0 {
		return nil
	}
	var detail []string
	for _, c := range missing {
		detail = append(detail, "- "+c.String())
	}
	for _, c := range extra {
		detail = append(detail, "+ "+c.String())
	}
	reason := "cause missing: "
	first := append(missing, extra...)[0]
	switch {
	case len(missing) > 0 && len(extra) > 0:
		reason = "cause differs: "
	case len(extra) > 0:
		reason = "cause too many: "
	}
	return []Difference{{reason + generalize(first.Message), lines(detail...)}}
}

// subtract counts duplicates.
func subtract(a, b []Cause) []Cause {
	left := map[Cause]int{}
	for _, c := range b {
		left[c]++
	}
	var out []Cause
	for _, c := range sortedCauses(a) {
		if left[c]--; left[c] < 0 {
			out = append(out, c)
		}
	}
	return out
}

// compareWarnings compares warnings regardless of order, because warnings that result from
// ratcheted errors come in the order of a Go map.
func compareWarnings(right, ours []string) []Difference {
	right, ours = slices.Sorted(slices.Values(right)), slices.Sorted(slices.Values(ours))
	if slices.Equal(right, ours) {
		return nil
	}
	return []Difference{{"warnings", diff(right, ours)}}
}

func compareObjects(name string, right, ours map[string]any, without []string) []Difference {
	a, err := withoutMetadata(right, without)
	if err != nil {
		return []Difference{{name, err.Error()}}
	}
	b, err := withoutMetadata(ours, without)
	if err != nil {
		return []Difference{{name, err.Error()}}
	}
	if bytes.Equal(a, b) {
		return nil
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return []Difference{{name, lines("- "+string(a), "+ "+string(b))}}
	}
	return []Difference{{name, diff(x, y)}}
}

// diff returns only the lines that differ, with - for right and + for ours.
func diff(right, ours any) string {
	var out []string
	for _, line := range strings.Split(cmp.Diff(right, ours), "\n") {
		if strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+") {
			// cmp inserts no-break spaces at random to discourage parsing.
			line = strings.ReplaceAll(line, "\u00a0", " ")
			out = append(out, shorten(strings.Join(strings.Fields(line), " "), 200))
		}
	}
	return lines(out...)
}

const shownLines = 12

func lines(all ...string) string {
	if len(all) > shownLines {
		more := fmt.Sprintf("… %d lines more", len(all)-shownLines)
		all = append(slices.Clone(all[:shownLines]), more)
	}
	return strings.Join(all, "\n")
}

func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

func genericMessage(a Answer) string {
	if len(a.Causes) == 0 {
		return generalize(a.Message)
	}
	return generalize(a.Causes[0].Message)
}

var (
	quoted  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	numbers = regexp.MustCompile(`\d+`)
)

// generalize replaces quoted values and numbers in a message, so that messages about different
// objects are equal.
func generalize(message string) string {
	message = quoted.ReplaceAllString(message, `"…"`)
	return shorten(numbers.ReplaceAllString(message, "0"), 100)
}
