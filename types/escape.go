package types

import "github.com/celadon-cel/celadon/internal/kubecel"

// The variables of a rule.
const (
	Self    = "self"
	OldSelf = "oldSelf"
)

// Escape returns the CEL identifier of a property name. ok is false if the name has no identifier,
// because it is empty, begins with a digit, or contains characters other than letters, digits, "_",
// ".", "-", and "/". Expressions cannot name such a property. See
// https://kubernetes.io/docs/reference/using-api/cel/#escaping.
func Escape(name string) (ident string, ok bool) { return kubecel.Escape(name) }

// Unescape returns the property name of a CEL identifier. ok is false if ident contains an unknown
// escape sequence.
func Unescape(ident string) (name string, ok bool) {
	if !hasDoubleUnderscore(ident) {
		return ident, true // saves evaluating a regular expression
	}
	return kubecel.Unescape(ident)
}

func hasDoubleUnderscore(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i] == '_' && s[i-1] == '_' {
			return true
		}
	}
	return false
}
