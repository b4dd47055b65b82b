package secret

import (
	"bytes"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/types/path"
)

// Mask hides secrets in whole objects.
type Mask struct {
	crds  []*apiextensionsv1.CustomResourceDefinition
	texts Texts
}

// MaskOf hides what is secret in any of some forms of an object, for what one of
// them has at the place of a password another may have elsewhere.
func MaskOf(crd *apiextensionsv1.CustomResourceDefinition, forms ...map[string]any) Mask {
	var m Mask
	for _, form := range forms {
		m.Add(crd, form)
	}
	return m
}

// Add hides what is secret in one more object, too, of the same CRD or another.
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

// Leaves is true where a text still has a secret in it.
func (m Mask) Leaves(text []byte) bool {
	return slices.ContainsFunc(m.texts, func(secret string) bool { return bytes.Contains(text, []byte(secret)) })
}

// Object is an object in which the secrets do not stand. What names it, which
// every report tells, does; the object given is not changed.
func (m Mask) Object(obj map[string]any) map[string]any {
	if obj == nil {
		return nil
	}
	own := &Secrets{} // those without a text too
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

// hideable is true of the fields of an object's root that do not name it.
func hideable(name string) bool { return name != "apiVersion" && name != "kind" && name != "metadata" }

// Value is a part of an object in which the secrets do not stand.
func (m Mask) Value(v any) any { return m.texts.Hide(v) }

// Piece is Value for what was made of an object's values: what is a piece of a secret
// does not stand there either.
func (m Mask) Piece(v any) any { return m.texts.HidePieces(v) }

func (m Mask) metadata(v any) any {
	meta, ok := v.(map[string]any)
	hidden, _ := m.texts.Hide(v).(map[string]any)
	if !ok {
		return m.texts.Hide(v)
	}
	for _, name := range []string{"name", "generateName", "namespace"} {
		if text, ok := meta[name].(string); ok {
			hidden[name] = text
		}
	}
	return hidden
}
