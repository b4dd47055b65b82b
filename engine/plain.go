package engine

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Most metadata is plain: decoding it into ObjectMeta and encoding it again would not change it, and it is valid.
// Detecting this saves the expensive round trip, which all other metadata takes.

const generation = "generation"

// plainMetadata reports whether decoding metadata into ObjectMeta and encoding it again changes nothing. A false
// result may be wrong.
func plainMetadata(v any) bool {
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	for name, v := range m {
		if !plainField(name, v) {
			return false
		}
	}
	return true
}

func plainField(name string, v any) bool {
	switch name {
	case "name", "generateName", "namespace", "uid", "resourceVersion":
		s, ok := v.(string)
		return ok && s != "" && utf8.ValidString(s)
	case "labels", "annotations":
		m, ok := v.(map[string]any)
		return ok && len(m) > 0 && plainTexts(m)
	case generation:
		n, ok := v.(int64)
		return ok && n != 0
	case "creationTimestamp":
		s, ok := v.(string)
		return ok && canonicalTime(s)
	case managedFields:
		entries, ok := v.([]any)
		return ok && len(entries) > 0 && !slices.ContainsFunc(entries, func(e any) bool { return !plainEntry(e) })
	}
	return false
}

func plainEntry(v any) bool {
	entry, ok := v.(map[string]any)
	if !ok {
		return false
	}
	for name, v := range entry {
		s, isText := v.(string)
		switch name {
		case "manager", "operation", "apiVersion", "fieldsType", "subresource":
			ok = isText && s != "" && utf8.ValidString(s)
		case "time":
			ok = isText && canonicalTime(s)
		case "fieldsV1":
			ok = plainSet(v)
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	return true
}

// plainSet reports whether v has the form of fieldsV1: nested maps without other values.
func plainSet(v any) bool {
	fields, ok := v.(map[string]any)
	for key, v := range fields {
		if !utf8.ValidString(key) || !plainSet(v) {
			return false
		}
	}
	return ok
}

func plainTexts(m map[string]any) bool {
	for key, v := range m {
		s, ok := v.(string)
		if !ok || !utf8.ValidString(s) || !utf8.ValidString(key) {
			return false
		}
	}
	return true
}

func canonicalTime(s string) bool {
	if len(s) != len("2006-01-02T15:04:05Z") || s[len(s)-1] != 'Z' {
		return false
	}
	t, err := time.Parse(time.RFC3339, s)
	return err == nil && !t.IsZero()
}

// validMetadata reports whether plain metadata is valid on create. A false result may be wrong.
func validMetadata(m map[string]any, namespaced bool) bool {
	name, _ := m["name"].(string)
	namespace, hasNamespace := m["namespace"].(string)
	if m["generateName"] != nil || m[managedFields] != nil || !isSubdomain(name) || hasNamespace != namespaced {
		return false
	}
	if namespaced && (len(namespace) > validation.DNS1123LabelMaxLength || !isSubdomain(namespace) || strings.Contains(namespace, ".")) {
		return false
	}
	if n, ok := m[generation].(int64); ok && n < 0 {
		return false
	}
	labels, _ := m["labels"].(map[string]any)
	annotations, _ := m["annotations"].(map[string]any)
	return validLabels(labels) && validAnnotations(annotations)
}

func validLabels(labels map[string]any) bool {
	for key, v := range labels {
		value := v.(string)
		if !isQualified(key) || value != "" && !isLabel(value) {
			return false
		}
	}
	return true
}

// annotationBytes is less than the server's limit. Larger annotations are checked by the server's own function.
const annotationBytes = 200 << 10

func validAnnotations(annotations map[string]any) bool {
	size := 0
	for key, v := range annotations {
		if !isQualified(key) {
			return false
		}
		size += len(key) + len(v.(string))
	}
	return size < annotationBytes
}

// isQualified reports whether key has a form such as "app" or "example.com/app".
func isQualified(key string) bool {
	for i := 0; i < len(key); i++ {
		if key[i] == '/' {
			return isSubdomain(key[:i]) && isLabel(key[i+1:])
		}
	}
	return isLabel(key)
}

func isLabel(s string) bool {
	if s == "" || len(s) > validation.LabelValueMaxLength {
		return false
	}
	for i := 0; i < len(s); i++ {
		inside := i > 0 && i < len(s)-1
		switch c := s[i]; {
		case isAlphanumeric(c), 'A' <= c && c <= 'Z':
		case inside && (c == '-' || c == '_' || c == '.'):
		default:
			return false
		}
	}
	return true
}

func isSubdomain(s string) bool {
	if s == "" || len(s) > validation.DNS1123SubdomainMaxLength {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case isAlphanumeric(c):
		case c != '-' && c != '.', i == 0, i == len(s)-1:
			return false
		case s[i-1] == '.', c == '.' && s[i-1] == '-':
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }
