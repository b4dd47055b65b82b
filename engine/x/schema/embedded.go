package schema

import (
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine/internal/metadata"
	"github.com/celadon-cel/celadon/engine/x/structural"
)

// coerceEmbedded does not modify obj. The unknown fields are sorted, and nil unless how.Track is set.
func (s *Schema) coerceEmbedded(obj map[string]any, how metadata.Decoding) (coerced map[string]any, unknown []string, err *field.Error) {
	c := coercer{Decoding: how}
	v, _ := c.value(obj, s.root, nil)
	slices.Sort(c.unknown)
	return v.(map[string]any), c.unknown, c.err
}

type coercer struct {
	metadata.Decoding
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
		if !replaced || n.embedded && structural.IsMeta(name) {
			continue
		}
		if !changed {
			out, changed = maps.Clone(fields), true
		}
		out[name] = next
	}
	return out, changed
}

// The copy shares everything but the metadata.
func (c *coercer) resource(fields map[string]any, at *errorPath) map[string]any {
	fields = maps.Clone(fields)
	unknown, err := c.Embedded(fields, at.field(nil))
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

// An errorPath is the path of a value; nil is the root. It is only formatted for errors, in the notation of the check
// that reports the error.
type errorPath struct {
	up    *errorPath
	name  string
	index int
	step  step
}

type step uint8

const (
	property   step = iota // a property of the schema
	additional             // any other field
	item
)

// String returns the notation of value errors. At the root, fields that are not properties also have a leading dot.
func (p *errorPath) String() string { return string(p.appendTo(nil, false)) }

func (p *errorPath) appendTo(b []byte, unknown bool) []byte {
	if p == nil {
		return b
	}
	b = p.up.appendTo(b, unknown)
	switch {
	case p.step == item:
		return append(strconv.AppendInt(append(b, '['), int64(p.index), 10), ']')
	case unknown && p.up != nil, !unknown && (len(b) > 0 || p.step == additional):
		b = append(b, '.')
	}
	return append(b, p.name...)
}

// root is also true for a root property whose name is empty.
func (p *errorPath) root() bool {
	return p == nil || p.step == property && p.name == "" && p.up.root()
}

func (p *errorPath) field(base *field.Path) *field.Path {
	if p == nil {
		return base
	}
	up := p.up.field(base)
	switch p.step {
	case item:
		return up.Index(p.index)
	case additional:
		return up.Key(p.name)
	}
	return up.Child(p.name)
}
