package secret

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/types/path"
)

// Mask hides secrets in whole objects. The zero value hides nothing.
type Mask struct {
	crds  []*apiextensionsv1.CustomResourceDefinition
	texts Texts
}

// MaskOf returns a mask for the secrets in any of several forms of an object, because a value that
// is a password in one form may be in another field in the next.
func MaskOf(crd *apiextensionsv1.CustomResourceDefinition, forms ...map[string]any) Mask {
	var m Mask
	for _, form := range forms {
		m.Add(crd, form)
	}
	return m
}

// Add also hides the secrets of obj, which may belong to another CRD.
func (m *Mask) Add(crd *apiextensionsv1.CustomResourceDefinition, obj map[string]any) {
	if obj == nil {
		return
	}
	if crd != nil && !slices.Contains(m.crds, crd) {
		m.crds = append(m.crds, crd)
	}
	m.texts = append(m.texts, Of(crd, obj).Texts...)
	slices.Sort(m.texts)
	m.texts = slices.Compact(m.texts)
}

// Object returns obj if it has no secrets, or else a copy with its secrets hidden. It keeps the fields
// that identify the object, because every report contains them.
func (m Mask) Object(obj map[string]any) map[string]any {
	if obj == nil {
		return nil
	}
	own := &Secrets{} // including values that are not in Texts
	for _, crd := range m.crds {
		own.Paths = append(own.Paths, Of(crd, obj).Paths...)
	}
	own.Paths = slices.DeleteFunc(own.Paths, func(steps []path.Step) bool { return !hideable(steps[0].Name) })
	if len(m.texts) == 0 && len(own.Paths) == 0 {
		return obj
	}
	out := maps.Clone(obj)
	for name, v := range obj {
		switch {
		case name == "metadata":
			out[name] = m.metadata(v)
		case hideable(name):
			out[name] = m.texts.Hide(v)
		}
	}
	own.Hide(out)
	return out
}

func hideable(name string) bool { return name != "apiVersion" && name != "kind" && name != "metadata" }

// Value returns a part of an object without its secrets.
func (m Mask) Value(v any) any { return m.texts.Hide(v) }

// Piece is like Value for values that were computed from an object. It also hides pieces of a secret.
func (m Mask) Piece(v any) any { return m.texts.HidePieces(v) }

func (m Mask) metadata(v any) any {
	hidden := m.texts.Hide(v)
	meta, _ := v.(map[string]any)
	for _, name := range []string{"name", "generateName", "namespace"} {
		if text, ok := meta[name].(string); ok {
			hidden.(map[string]any)[name] = text
		}
	}
	return hidden
}

// Hidden replaces values that must not be shown.
const Hidden = "(hidden)"

// Texts are strings that must not be shown.
type Texts []string

// maxHidden limits how many secrets are searched for in each text. If there are more, every text is hidden.
const maxHidden = 1000

// In reports whether text contains a secret, regardless of case. It also returns true if there are too many secrets to
// search for.
func (t Texts) In(text string) bool {
	if len(t) > maxHidden {
		return true
	}
	text = strings.ToLower(text)
	return slices.ContainsFunc(t, func(secret string) bool { return strings.Contains(text, strings.ToLower(secret)) })
}

func (t Texts) partOf(text string) bool {
	return len(t) > maxHidden || text != "" && slices.ContainsFunc(t, func(secret string) bool { return strings.Contains(strings.ToLower(secret), strings.ToLower(text)) })
}

// HidePieces is like Hide for values that rules compute. It also hides pieces of a secret, keys that contain one, and
// equal numbers.
func (t Texts) HidePieces(v any) any { return t.hidden(v, true) }

// Hide returns a copy of v in which strings that contain a secret are replaced. It keeps the keys and numbers of an
// object: they equal a secret only by coincidence, and the object would be meaningless without them.
func (t Texts) Hide(v any) any { return t.hidden(v, false) }

func (t Texts) hidden(v any, pieces bool) any {
	switch v := v.(type) {
	case string:
		if t.In(v) || pieces && t.partOf(v) {
			return Hidden
		}
	case int64, float64:
		if data, err := json.Marshal(v); pieces && err == nil && slices.Contains(t, string(data)) {
			return Hidden
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = t.hidden(v[i], pieces)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, field := range v {
			if pieces && t.In(name) {
				name = Hidden
			}
			out[name] = t.hidden(field, pieces)
		}
		return out
	}
	return v
}
