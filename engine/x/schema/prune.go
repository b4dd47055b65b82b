package schema

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine/internal/metadata"
	"github.com/celadon-cel/celadon/engine/x/structural"
)

// Preparation selects the steps that Prepare applies.
type Preparation struct {
	// Prune drops unknown fields, and nulls of fields that are neither nullable nor have a default.
	Prune bool
	// Track collects the paths of unknown fields.
	Track bool
	// Repair drops malformed metadata of embedded resources, as the API server does when it reads from storage.
	// Otherwise it is an error.
	Repair bool
	// Default adds missing fields that have a default, and replaces nulls by the default where null is
	// not allowed.
	Default bool
	// NoStatus excludes the default of the root's status.
	NoStatus bool
}

// Prepare prunes an object of the custom resource, normalizes the metadata of embedded resources, and defaults it. It
// does not modify obj. The result shares memory with obj, and is obj itself if it has no embedded resources and
// nothing changes. Unknown fields are sorted; those in the metadata of embedded resources follow the others.
func (s *Schema) Prepare(obj map[string]any, steps Preparation) (prepared map[string]any, unknown []string, err *field.Error) {
	if !s.root.embeds {
		prepared, unknown = s.prepare(obj, steps)
		return prepared, unknown, nil
	}
	prune := steps
	prune.Default = false
	prepared, unknown = s.prepare(obj, prune)
	prepared, more, err := s.coerceEmbedded(prepared, metadata.Decoding{Repair: steps.Repair, Track: steps.Track})
	if err != nil {
		return nil, nil, err
	}
	if steps.Default {
		prepared, _ = s.prepare(prepared, Preparation{Default: true, NoStatus: steps.NoStatus})
	}
	return prepared, append(unknown, more...), nil
}

// prepare prunes and defaults in a single walk, with the same result as if it pruned first.
func (s *Schema) prepare(obj map[string]any, steps Preparation) (prepared map[string]any, unknown []string) {
	p := &preparer{Preparation: steps}
	mode := keepUnknown
	if p.Prune {
		mode = s.root.mode(dropUnknown)
	}
	prepared, _ = p.object(obj, s.root, mode, nil)
	slices.Sort(p.unknown)
	return prepared, p.unknown
}

// Decoded reports whether v could be the result of decoding JSON.
func Decoded(v any) bool {
	switch v := v.(type) {
	case nil, bool, string, int64, float64:
		return true
	case map[string]any:
		for _, entry := range v {
			if !Decoded(entry) {
				return false
			}
		}
		return true
	case []any:
		for _, item := range v {
			if !Decoded(item) {
				return false
			}
		}
		return true
	}
	return false
}

// FillRoot returns obj with missing defaults of the root's properties. It does not modify obj.
func (s *Schema) FillRoot(obj map[string]any) map[string]any {
	filled := obj
	for _, d := range s.root.defaults {
		if _, ok := obj[d.name]; ok {
			continue
		}
		if len(filled) == len(obj) {
			filled = maps.Clone(obj)
		}
		filled[d.name] = runtime.DeepCopyJSONValue(d.node.standard)
	}
	return filled
}

type preparer struct {
	Preparation
	unknown []string
}

type mode uint8

const (
	// keepUnknown prunes nothing at this level or below.
	keepUnknown mode = iota
	dropUnknown
	// preserveUnknown keeps unknown fields with everything below. Below fields in the schema, pruning
	// resumes.
	preserveUnknown
)

func (n *node) mode(m mode) mode {
	if m == dropUnknown && n != nil && n.preserve {
		return preserveUnknown
	}
	return m
}

func (p *preparer) value(v any, n *node, m mode, at *errorPath) (prepared any, changed bool) {
	if n == nil && m != dropUnknown {
		return v, false
	}
	switch v := v.(type) {
	case map[string]any:
		return p.object(v, n, m, at)
	case []any:
		if out, changed := p.list(v, n, m, at); changed {
			return out, true
		}
	}
	return v, false
}

func (p *preparer) object(fields map[string]any, n *node, m mode, at *errorPath) (out map[string]any, changed bool) {
	out = fields
	own := func() map[string]any {
		switch {
		case out == nil:
			out, changed = map[string]any{}, true
		case !changed:
			out, changed = maps.Clone(fields), true
		}
		return out
	}
	here := errorPath{up: at}
	for name, v := range fields {
		here.name = name
		child, known := n.child(name)
		below := m
		switch {
		case m == keepUnknown || (n != nil && n.embedded || at == nil) && structural.IsMeta(name):
			below = keepUnknown
		case known:
			below = child.mode(dropUnknown)
		case m == dropUnknown:
			if p.Track {
				p.unknown = append(p.unknown, string(here.appendTo(nil, true)))
			}
			delete(own(), name)
			continue
		default:
			continue
		}
		if v == nil && child != nil && !child.nullable {
			switch {
			case child.standard == nil && p.Prune:
				delete(own(), name)
			case child.standard != nil && p.Default:
				own()[name] = runtime.DeepCopyJSONValue(child.standard)
			}
			continue
		}
		if next, replaced := p.value(v, child, below, &here); replaced {
			own()[name] = next
		}
	}
	if p.Default && n != nil {
		for _, d := range n.defaults {
			if _, ok := fields[d.name]; !ok && !(p.NoStatus && at == nil && d.name == "status") {
				own()[d.name] = runtime.DeepCopyJSONValue(d.node.standard)
			}
		}
	}
	return out, changed
}

func (p *preparer) list(items []any, n *node, m mode, at *errorPath) (out []any, changed bool) {
	var child *node
	if n != nil {
		child = n.items
	}
	if m == dropUnknown {
		m = child.mode(m)
	}
	out = items
	here := errorPath{up: at, step: item}
	for i, v := range items {
		here.index = i
		next, replaced := v, false
		if v == nil && child != nil && !child.nullable {
			if p.Default && child.standard != nil {
				next, replaced = runtime.DeepCopyJSONValue(child.standard), true
			}
		} else {
			next, replaced = p.value(v, child, m, &here)
		}
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
