package schema

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine/internal/metadata"
)

// Coercion holds options for reading the metadata of embedded resources.
type Coercion struct {
	// Repair drops malformed fields, as the API server does when it reads from storage. Otherwise
	// they are errors.
	Repair bool
	// Track collects the paths of unknown fields.
	Track bool
}

// CoerceEmbedded normalizes the metadata of embedded resources. It returns the sorted paths of
// unknown fields if how.Track is set. Like Prepare, it does not modify obj.
func (s *Schema) CoerceEmbedded(obj map[string]any, how Coercion) (coerced map[string]any, unknown []string, err *field.Error) {
	c := coercer{Coercion: how}
	v, _ := c.value(obj, s.root, nil)
	slices.Sort(c.unknown)
	return v.(map[string]any), c.unknown, c.err
}

type coercer struct {
	Coercion
	unknown []string
	err     *field.Error // the first error ends the walk
}

func (c *coercer) value(v any, n *node, at *errorPath) (coerced any, changed bool) {
	if n == nil || !n.embeds || c.err != nil {
		return v, false
	}
	switch v := v.(type) {
	case map[string]any:
		return c.object(v, n, at)
	case []any:
		if out, changed := c.list(v, n, at); changed {
			return out, true
		}
	}
	return v, false
}

func (c *coercer) object(fields map[string]any, n *node, at *errorPath) (out map[string]any, changed bool) {
	out = fields
	if n.embedded {
		out, changed = c.resource(fields, at), true
	}
	here := errorPath{up: at}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		here.name, here.step = name, property
		child, ok := n.properties[name]
		if !ok {
			child, here.step = n.additional, additional
		}
		next, replaced := c.value(fields[name], child, &here)
		if !replaced || n.embedded && isMeta(name) {
			continue
		}
		if !changed {
			out, changed = maps.Clone(fields), true
		}
		out[name] = next
	}
	return out, changed
}

// resource coerces a copy of the resource that shares everything but the metadata.
func (c *coercer) resource(fields map[string]any, at *errorPath) map[string]any {
	fields = maps.Clone(fields)
	unknown, err := metadata.Decoding(c.Coercion).Embedded(fields, at.field(nil))
	c.unknown = append(c.unknown, unknown...)
	c.err = err
	return fields
}

func (c *coercer) list(items []any, n *node, at *errorPath) (out []any, changed bool) {
	out = items
	here := errorPath{up: at, step: item}
	for i, v := range items {
		here.index = i
		next, replaced := c.value(v, n.items, &here)
		if !replaced {
			continue
		}
		if !changed {
			out, changed = slices.Clone(items), true
		}
		out[i] = next
	}
	return out, changed
}
