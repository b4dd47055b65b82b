package secret

import (
	"encoding/json"
	"slices"
	"strings"
)

// Hidden stands for what must not be shown.
const Hidden = "(hidden)"

// Texts are strings that must not be shown.
type Texts []string

// mostSecrets is how many are looked for in each text: beside more, nothing is
// shown.
const mostSecrets = 1000

// In is true where the text holds a secret, whatever its case.
func (t Texts) In(text string) bool {
	if len(t) > mostSecrets {
		return true
	}
	text = strings.ToLower(text)
	return slices.ContainsFunc(t, func(secret string) bool { return strings.Contains(text, strings.ToLower(secret)) })
}

// partOf is true where the text is a piece of a secret.
func (t Texts) partOf(text string) bool {
	return len(t) > mostSecrets || text != "" && slices.ContainsFunc(t, func(secret string) bool { return strings.Contains(strings.ToLower(secret), strings.ToLower(text)) })
}

// HidePieces is Hide for values that rules make: pieces of a secret are hidden too.
func (t Texts) HidePieces(v any) any {
	return hidden(v, func(text string) bool { return t.In(text) || t.partOf(text) }, t.In, t.is)
}

// Hide is a value without the strings and keys that hold a secret.
func (t Texts) Hide(v any) any { return hidden(v, t.In, t.In, t.is) }

// is true of a text that is a secret.
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
