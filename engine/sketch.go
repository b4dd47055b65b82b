package engine

import (
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// A sketch locates the rules at and below a schema node. Most of a schema usually has no rules, and walking it copies
// each property.
type sketch struct {
	name          string             // of a field
	nested        *schema.Structural // of a value validation under allOf
	fields        []*sketch          // sorted by name
	items, values *sketch
	allOf         []*sketch
	counts        bool
}

func sketchOf(s *schema.Structural) *sketch {
	if s == nil {
		return nil
	}
	return sketchNode(*s)
}

// sketchNode takes its argument by value, because taking the address of each property would allocate it on the heap.
func sketchNode(s schema.Structural) *sketch {
	items, values := sketchOf(s.Items), sketchOf(additional(&s))
	counts := len(s.XValidations) > 0 || items.count() || values.count()
	var fields []*sketch
	for name, prop := range s.Properties {
		if sub := sketchNode(prop); sub != nil {
			sub.name = name
			fields, counts = append(fields, sub), counts || sub.counts
		}
	}
	slices.SortFunc(fields, func(a, b *sketch) int { return strings.Compare(a.name, b.name) })
	allOf := sketchesOf(s.ValueValidation)
	if !counts && items == nil && values == nil && len(fields) == 0 && len(allOf) == 0 {
		return nil
	}
	return &sketch{fields: fields, items: items, values: values, allOf: allOf, counts: counts}
}

func sketchesOf(v *schema.ValueValidation) (all []*sketch) {
	if v == nil {
		return nil
	}
	for i := range v.AllOf {
		s := nested(&v.AllOf[i])
		if sub := sketchOf(s); sub != nil {
			sub.nested = s
			all = append(all, sub)
		}
	}
	return all
}

// The API server does not look for rules under allOf when it checks whether there are any.
func (at *sketch) count() bool { return at != nil && at.counts }

func additional(s *schema.Structural) *schema.Structural {
	if s.AdditionalProperties == nil {
		return nil
	}
	return s.AdditionalProperties.Structural
}

func nested(v *schema.NestedValueValidation) *schema.Structural {
	if v == nil {
		return nil
	}
	s := &schema.Structural{
		Items:                nested(v.Items),
		Generic:              v.ForbiddenGenerics,
		Extensions:           v.ForbiddenExtensions,
		ValueValidation:      &v.ValueValidation,
		ValidationExtensions: v.ValidationExtensions,
	}
	if len(v.Properties) > 0 {
		s.Properties = make(map[string]schema.Structural, len(v.Properties))
		for name, prop := range v.Properties {
			s.Properties[name] = *nested(&prop)
		}
	}
	if v.AdditionalProperties != nil {
		s.AdditionalProperties = &schema.StructuralOrBool{Structural: nested(v.AdditionalProperties)}
	}
	return s
}
