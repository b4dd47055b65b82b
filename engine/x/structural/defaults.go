package structural

import (
	"errors"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine/internal/metadata"
)

// Default fills copies of the defaults of s into v, as
// k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting does. It modifies v.
func Default(v any, s *schema.Structural) { NewDefaulter(s).Default(v) }

// A Defaulter fills the defaults of a schema into values. It is immutable and safe for concurrent use.
type Defaulter struct {
	// properties holds all properties; those without a default at or below them are nil.
	properties map[string]*Defaulter
	missing    map[string]*Defaulter
	// items and additional are the schemas of all other values; nil if they have no defaults.
	items, additional *Defaulter
	standard          any
	nullable          bool
}

// NewDefaulter returns a Defaulter for s, or nil if s has no defaults. Its methods accept a nil receiver.
func NewDefaulter(s *schema.Structural) *Defaulter {
	if s == nil {
		return nil
	}
	d := &Defaulter{properties: map[string]*Defaulter{}, missing: map[string]*Defaulter{}, items: NewDefaulter(s.Items), standard: s.Default.Object, nullable: s.Nullable}
	if s.AdditionalProperties != nil {
		d.additional = NewDefaulter(s.AdditionalProperties.Structural)
	}
	has := d.standard != nil || d.items != nil || d.additional != nil
	for name := range s.Properties {
		property := s.Properties[name]
		below := NewDefaulter(&property)
		d.properties[name] = below
		if below != nil && below.standard != nil {
			d.missing[name] = below
		}
		has = has || below != nil
	}
	if !has {
		return nil
	}
	return d
}

// Default fills copies of the defaults into v, which it modifies. It does not replace v itself.
func (d *Defaulter) Default(v any) {
	if d == nil {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		d.object(v)
	case []any:
		if d.items == nil {
			return
		}
		for i, item := range v {
			v[i] = d.items.nullDefault(item)
			d.items.Default(v[i])
		}
	}
}

func (d *Defaulter) object(fields map[string]any) {
	for name, property := range d.missing {
		if old, ok := fields[name]; !ok || old == nil && !property.nullable {
			fields[name] = runtime.DeepCopyJSONValue(property.standard)
		}
	}
	for name, v := range fields {
		if property, ok := d.properties[name]; ok {
			property.Default(v)
		} else if d.additional != nil {
			fields[name] = d.additional.nullDefault(v)
			d.additional.Default(fields[name])
		}
	}
}

// nullDefault returns a copy of the default for a null that the schema does not permit, otherwise v.
func (d *Defaulter) nullDefault(v any) any {
	if v != nil || d.nullable {
		return v
	}
	return runtime.DeepCopyJSONValue(d.standard)
}

// PruneDefaults drops unknown fields from the defaults in s, which it modifies. It follows
// k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting.
func PruneDefaults(s *schema.Structural) error {
	root := *s
	root.XEmbeddedResource = true
	p := &defaultPruner{root: &root}
	_, err := p.prune(s, false)
	return err
}

// A defaultPruner puts each default into an object that has nothing else, because pruning depends on
// the path of a value.
type defaultPruner struct {
	root *schema.Structural
	path []step
}

// A step leads to a property, or to the first item of a list if list is set.
type step struct {
	name string
	list bool
}

// prune prunes the defaults of s and below. inMeta is set if s describes a part of the apiVersion, the
// kind, or the metadata of a resource. changed reports whether a default can have changed.
func (p *defaultPruner) prune(s *schema.Structural, inMeta bool) (changed bool, err error) {
	if s == nil {
		return false, nil
	}
	if p.needsPruning(s.Default.Object, inMeta) {
		changed = true
		if s.Default.Object, err = p.pruned(s.Default.Object); err != nil {
			return false, fmt.Errorf("failed to prune default value: %w", err)
		}
	}
	if s.AdditionalProperties != nil {
		if err := p.child(step{name: "*"}, s.AdditionalProperties.Structural, inMeta, &changed); err != nil {
			return false, err
		}
	}
	if err := p.child(step{list: true}, s.Items, inMeta, &changed); err != nil {
		return false, err
	}
	embedded := s.XEmbeddedResource || len(p.path) == 0
	for name, property := range s.Properties {
		here := false
		if err := p.child(step{name: name}, &property, inMeta || embedded && IsMeta(name), &here); err != nil {
			return false, err
		}
		if here {
			s.Properties[name], changed = property, true
		}
	}
	return changed, nil
}

func (p *defaultPruner) child(to step, s *schema.Structural, inMeta bool, changed *bool) error {
	p.path = append(p.path, to)
	here, err := p.prune(s, inMeta)
	p.path = p.path[:len(p.path)-1]
	*changed = *changed || here
	return err
}

// needsPruning reports whether pruning can change the default v or fail. A scalar only changes in
// metadata, and pruning only fails if the root is not an object.
func (p *defaultPruner) needsPruning(v any, inMeta bool) bool {
	switch v.(type) {
	case nil:
		return false
	case map[string]any, []any:
		return true
	}
	return inMeta || len(p.path) == 0 || p.path[0].list
}

func (p *defaultPruner) pruned(v any) (any, error) {
	for i := len(p.path) - 1; i >= 0; i-- {
		if p.path[i].list {
			v = []any{v}
		} else {
			v = map[string]any{p.path[i].name: v}
		}
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("object root default value must be of object type")
	}
	coerce(object, p.root)
	drop(object, p.root, false)
	var rest any = object
	for _, s := range p.path {
		rest = s.in(rest)
	}
	return rest, nil
}

func (s step) in(v any) any {
	if s.list {
		if items, ok := v.([]any); ok && len(items) > 0 {
			return items[0]
		}
		return nil
	}
	fields, _ := v.(map[string]any)
	return fields[s.name]
}

func coerce(v any, s *schema.Structural) {
	if s == nil {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if s.XEmbeddedResource {
			metadata.Decoding{Repair: true}.Embedded(v, nil)
		}
		for name, child := range v {
			coerce(child, propertyOf(s, name))
		}
	case []any:
		for _, item := range v {
			coerce(item, s.Items)
		}
	}
}

// keep is set if v itself keeps them.
func drop(v any, s *schema.Structural, keep bool) {
	keep = keep || s != nil && s.XPreserveUnknownFields
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			property := propertyOf(s, name)
			switch {
			case s != nil && s.XEmbeddedResource && IsMeta(name):
			case s != nil && declares(s, name):
				drop(child, property, false)
			case !keep:
				delete(v, name)
			}
		}
	case []any:
		if s == nil {
			if keep {
				return
			}
			s = &schema.Structural{}
		}
		for _, item := range v {
			drop(item, s.Items, keep)
		}
	}
}

func declares(s *schema.Structural, name string) bool {
	_, ok := s.Properties[name]
	return ok || s.AdditionalProperties != nil
}

func propertyOf(s *schema.Structural, name string) *schema.Structural {
	if s == nil {
		return nil
	}
	if property, ok := s.Properties[name]; ok {
		return &property
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}

// IsMeta reports whether a resource has a field of the name even if its schema does not declare it.
func IsMeta(name string) bool { return name == "apiVersion" || name == "kind" || name == "metadata" }

// MapIsCorrelatable reports whether values in a map with the given x-kubernetes-map-type have a
// corresponding value in the old map.
func MapIsCorrelatable(mapType *string) bool {
	return mapType == nil || *mapType == "granular" || *mapType == "atomic"
}
