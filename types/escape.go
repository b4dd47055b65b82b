package types

import apiservercel "k8s.io/apiserver/pkg/cel"

// Escape gives the CEL identifier of a property name, and false for a name
// that has none: one with characters other than letters, digits, "_", ".",
// "-" and "/", or that begins with a digit. Expressions cannot name such a
// property. See
// https://kubernetes.io/docs/reference/using-api/cel/#escaping.
func Escape(name string) (ident string, ok bool) { return apiservercel.Escape(name) }

// Unescape gives the property name of a CEL identifier, and false when it
// holds a sequence that Escape never makes.
func Unescape(ident string) (name string, ok bool) {
	if !hasDoubleUnderscore(ident) {
		return ident, true // spares a regular expression
	}
	return apiservercel.Unescape(ident)
}

func hasDoubleUnderscore(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i] == '_' && s[i-1] == '_' {
			return true
		}
	}
	return false
}
