package secret

import (
	"encoding/json"
	"slices"
	"strings"
)

// Hidden replaces values that must not be shown.
const Hidden = "(hidden)"

// Texts are strings that must not be shown.
type Texts []string

// maxHidden limits how many secrets are searched for in each text. If there are more, every text
// is hidden.
const maxHidden = 1000

// In reports whether text contains a secret, regardless of case.
func (t Texts) In(text string) bool {
	if len(t) > maxHidden {
		return true
	}
	text = strings.ToLower(text)
	return slices.ContainsFunc(t, func(secret string) bool { return strings.Contains(text, strings.ToLower(secret)) })
}

// partOf reports whether text is a piece of a secret.
func (t Texts) partOf(text string) bool {
	return len(t) > maxHidden || text != "" && slices.ContainsFunc(t, func(secret string) bool { return strings.Contains(strings.ToLower(secret), strings.ToLower(text)) })
}

// HidePieces is like Hide for values that rules compute. It also hides pieces of a secret, keys that contain one, and
// equal numbers.
func (t Texts) HidePieces(v any) any {
	return hidden(v, func(text string) bool { return t.In(text) || t.partOf(text) }, t.In, t.is)
}

// Hide returns a copy of v in which strings that contain a secret are replaced. Keys and numbers of an object stay: one
// that equals a secret is a coincidence, and the object would not be itself without it.
func (t Texts) Hide(v any) any { return hidden(v, t.In, no, no) }

func no(string) bool { return false }

// is reports whether text equals a secret.
func (t Texts) is(text string) bool { return slices.Contains(t, text) }

func hidden(v any, text, key, number func(string) bool) any {
	switch v := v.(type) {
	case string:
		if text(v) {
			return Hidden
		}
	case int64, float64:
		if data, err := json.Marshal(v); err == nil && number(string(data)) {
			return Hidden
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = hidden(v[i], text, key, number)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, field := range v {
			if key(name) {
				name = Hidden
			}
			out[name] = hidden(field, text, key, number)
		}
		return out
	}
	return v
}
