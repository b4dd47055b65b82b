package schema

import (
	"strings"
	"sync"

	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// registries holds the API server's formats. The shared registry has a lock, so each processor gets
// its own.
var registries = sync.Pool{New: func() any { return strfmt.NewFormats() }}

// formatOf returns a function that checks strings for a format, or nil if the format is not
// checked.
func formatOf(name string) func(string) bool {
	if name == "" || !strfmt.Default.ContainsName(name) {
		return nil
	}
	if strfmt.DefaultNameNormalizer(name) == "datetime" {
		return dateTime
	}
	return func(s string) bool {
		r := registries.Get().(strfmt.Registry)
		defer registries.Put(r)
		return r.Validates(name, s)
	}
}

// dateTime reports whether s is a date-time. It accepts the most common form without allocating.
func dateTime(s string) bool {
	return usualDateTime(s) && strfmt.IsDate(s[:len("2006-01-02")]) || strfmt.IsDateTime(s)
}

// usualDateTime reports whether the part after the date is HH:MM:SS, an optional fraction, and Z.
func usualDateTime(s string) bool {
	const form = "0000-00-00T00:00:00"
	if len(s) <= len(form) || s[len(s)-1] != 'Z' {
		return false
	}
	for i := range len(form) {
		if digit := form[i] == '0'; digit != isDigit(s[i]) || !digit && s[i] != form[i] {
			return false
		}
	}
	if s[11:13] > "23" || s[14:16] > "59" || s[17:19] > "59" {
		return false
	}
	fraction := s[len(form) : len(s)-1]
	if fraction == "" {
		return true
	}
	return fraction[0] == '.' && len(fraction) > 1 && strings.Trim(fraction[1:], "0123456789") == ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
