package suite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// The levels at which an implementation can be compared.
const (
	LevelVerdict = "verdict"
	LevelCauses  = "causes"
	LevelObject  = "object"
	LevelCost    = "cost"
)

// The differences at LevelVerdict.
const (
	WronglyAccepted = "want allowed false, got true"
	WronglyRejected = "want allowed true, got false"
)

// Levels returns all levels in the order of the report.
func Levels() []string { return []string{LevelVerdict, LevelCauses, LevelObject, LevelCost} }

var managed = []string{"uid", "creationTimestamp", "resourceVersion", "generation", "managedFields"}

func compared(level string, want *Response) bool {
	switch level {
	case LevelObject:
		return want.Allowed
	case LevelCost:
		return want.Cost != nil
	}
	return true
}

func difference(level string, want, got *Response) string {
	switch level {
	case LevelVerdict:
		if got.Allowed && !want.Allowed {
			return WronglyAccepted
		} else if want.Allowed && !got.Allowed {
			return WronglyRejected
		}
	case LevelCauses:
		return statusDifference(want, got)
	case LevelObject:
		return objectDifference(want.Object, got.Object)
	case LevelCost:
		if got.Cost == nil {
			return fmt.Sprintf("want cost %d, got none", *want.Cost)
		}
		if *got.Cost != *want.Cost {
			return fmt.Sprintf("want cost %d, got %d", *want.Cost, *got.Cost)
		}
	}
	return ""
}

// The order of causes and warnings does not matter, because it is random in a server.
func statusDifference(want, got *Response) string {
	var out []string
	if want.Code != got.Code {
		out = append(out, fmt.Sprintf("want code %d, got %d", want.Code, got.Code))
	}
	if len(want.Causes) == 0 && want.Message != got.Message {
		out = append(out, fmt.Sprintf("want message %q, got %q", want.Message, got.Message))
	}
	for _, line := range [][2][]string{{causeLines(want.Causes), causeLines(got.Causes)}, {warningLines(want.Warnings), warningLines(got.Warnings)}} {
		for _, missing := range subtract(line[0], line[1]) {
			out = append(out, "- "+missing)
		}
		for _, extra := range subtract(line[1], line[0]) {
			out = append(out, "+ "+extra)
		}
	}
	return strings.Join(out, "\n")
}

func causeLines(causes []Cause) (all []string) {
	for _, c := range causes {
		all = append(all, fmt.Sprintf("cause %s %q %q", c.Reason, c.Field, c.Message))
	}
	return all
}

func warningLines(warnings []string) (all []string) {
	for _, w := range warnings {
		all = append(all, fmt.Sprintf("warning %q", w))
	}
	return all
}

// subtract counts duplicates.
func subtract(a, b []string) (only []string) {
	left := map[string]int{}
	for _, line := range b {
		left[line]++
	}
	for _, line := range a {
		if left[line]--; left[line] < 0 {
			only = append(only, line)
		}
	}
	slices.Sort(only)
	return only
}

func objectDifference(want, got json.RawMessage) string {
	if got == nil {
		return "want an object, got none"
	}
	a, err := comparableObject(want)
	if err != nil {
		return err.Error()
	}
	b, err := comparableObject(got)
	if err != nil {
		return err.Error()
	}
	return valueDifference("", a, b)
}

func comparableObject(data json.RawMessage) (map[string]any, error) {
	var object map[string]any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber() // int64 does not fit into float64
	if err := dec.Decode(&object); err != nil {
		return nil, fmt.Errorf("object: %w", err)
	}
	if metadata, ok := object["metadata"].(map[string]any); ok {
		for _, name := range managed {
			delete(metadata, name)
		}
	}
	return object, nil
}

// valueDifference describes the first difference, by sorted keys.
func valueDifference(path string, want, got any) string {
	a, aIsMap := want.(map[string]any)
	b, bIsMap := got.(map[string]any)
	if aIsMap && bIsMap {
		keys := slices.Sorted(allKeys(a, b))
		for _, key := range slices.Compact(keys) {
			x, inA := a[key]
			y, inB := b[key]
			switch at := path + "." + key; {
			case !inA:
				return fmt.Sprintf("%s: want none, got %s", at, brief(y))
			case !inB:
				return fmt.Sprintf("%s: want %s, got none", at, brief(x))
			default:
				if d := valueDifference(at, x, y); d != "" {
					return d
				}
			}
		}
		return ""
	}
	x, xIsList := want.([]any)
	y, yIsList := got.([]any)
	if xIsList && yIsList && len(x) == len(y) {
		for i := range x {
			if d := valueDifference(fmt.Sprintf("%s[%d]", path, i), x[i], y[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if equalScalars(want, got) {
		return ""
	}
	return fmt.Sprintf("%s: want %s, got %s", cmp.Or(path, "."), brief(want), brief(got))
}

func allKeys(maps ...map[string]any) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, m := range maps {
			for key := range m {
				if !yield(key) {
					return
				}
			}
		}
	}
}

// 1.0 and 1 are the same number.
func equalScalars(a, b any) bool {
	x, xIsNumber := a.(json.Number)
	y, yIsNumber := b.(json.Number)
	if !xIsNumber || !yIsNumber || x == y {
		return reflect.DeepEqual(a, b)
	}
	_, xErr := x.Int64()
	_, yErr := y.Int64()
	if xErr == nil && yErr == nil {
		return false
	}
	f, xErr := x.Float64()
	g, yErr := y.Float64()
	return xErr == nil && yErr == nil && f == g
}

func brief(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return shorten(string(data), 200)
}

func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
