package schema

import (
	"sync"
	"time"

	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// The shared registry has a lock, so each processor gets its own.
var registries = sync.Pool{New: func() any { return strfmt.NewFormats() }}

// formatOf returns nil if the format is not checked.
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

// For the most common form, dateTime avoids regular expressions, which allocate.
func dateTime(s string) bool {
	if len(s) == len("2006-01-02T15:04:05Z") {
		if _, err := time.Parse("2006-01-02T15:04:05Z", s); err == nil {
			return true
		}
	}
	return strfmt.IsDateTime(s)
}
