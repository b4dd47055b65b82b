package where

import (
	"bytes"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Mask hides secrets in whole objects.
type Mask struct{ secrets Secrets }

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
	m.secrets.Texts = append(m.secrets.Texts, SecretsOf(crd, obj).Texts...)
	slices.Sort(m.secrets.Texts)
	m.secrets.Texts = slices.Compact(m.secrets.Texts)
}

// Leaves is true where a text still has a secret in it.
func (m Mask) Leaves(text []byte) bool {
	return slices.ContainsFunc(m.secrets.Texts, func(secret string) bool { return bytes.Contains(text, []byte(secret)) })
}

// Object is an object in which the secrets do not stand. What names it, which
// every report tells, does; the object given is not changed.
func (m Mask) Object(obj map[string]any) map[string]any {
	if obj == nil || len(m.secrets.Texts) == 0 {
		return obj
	}
	out := maps.Clone(obj)
	for name, v := range obj {
		switch name {
		case "apiVersion", "kind":
		case "metadata":
			out[name] = m.metadata(v)
		default:
			out[name] = m.secrets.Texts.Hide(v)
		}
	}
	return out
}

func (m Mask) metadata(v any) any {
	meta, ok := v.(map[string]any)
	hidden, _ := m.secrets.Texts.Hide(v).(map[string]any)
	if !ok {
		return m.secrets.Texts.Hide(v)
	}
	for _, name := range []string{"name", "generateName", "namespace"} {
		if text, ok := meta[name].(string); ok {
			hidden[name] = text
		}
	}
	return hidden
}
