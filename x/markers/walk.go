package markers

import (
	"cmp"
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// step is one way down from a schema.
type step struct {
	kind   stepKind
	name   string // of a property
	schema *apiextensionsv1.JSONSchemaProps
}

type stepKind uint8

const (
	property stepKind = iota
	items
	values // of a map
)

// steps are those of a schema, in order. Rules stand nowhere else: not below anyOf and
// its like.
func steps(schema *apiextensionsv1.JSONSchemaProps) (list []step) {
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		below := schema.Properties[name]
		list = append(list, step{property, name, &below})
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		list = append(list, step{items, "", schema.Items.Schema})
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		list = append(list, step{values, "", schema.AdditionalProperties.Schema})
	}
	return list
}

// path is the place of a schema in the CRD, from that of the one above.
func (by step) path(above string) string {
	switch by.kind {
	case items:
		return above + ".items"
	case values:
		return above + ".additionalProperties"
	}
	return above + ".properties[" + by.name + "]"
}

// branch is a schema with rules, and those below it that have some.
type branch struct {
	step
	below []*branch
}

// branches are nil for a schema without rules: there nothing is looked for.
func branches(by step) *branch {
	b := &branch{step: by}
	for _, next := range steps(by.schema) {
		if down := branches(next); down != nil {
			b.below = append(b.below, down)
		}
	}
	if len(b.below) == 0 && len(by.schema.XValidations) == 0 {
		return nil
	}
	return b
}

// below is what Go says one step down.
func (s *Source) below(at spot, by step) spot {
	switch e := at.expr.(type) {
	case *ast.StructType:
		if by.kind == property {
			found, _ := s.field(at, by.name)
			return found
		}
	case *ast.ArrayType:
		if by.kind == items {
			down := s.typeOf(at.file, e.Elt)
			down.above = at.sets
			return s.led(down, at)
		}
	case *ast.MapType:
		if by.kind == values {
			return s.led(s.typeOf(at.file, e.Value), at)
		}
	}
	return spot{unknown: at.unknown, missing: at.missing}
}

// led keeps what led to a list or a map for what is in it.
func (s *Source) led(down, at spot) spot {
	down.field, down.owner = at.field, at.owner
	return down
}

// field is what has a name in objects, in a struct or in what is inlined there.
func (s *Source) field(at spot, name string) (found spot, ok bool) {
	found.unknown, found.missing = at.unknown, at.missing
	if at.decl == nil {
		return found, false
	}
	if field := at.decl.byName[name]; field != nil {
		down := s.typeOf(at.decl.file, field.expr)
		down.add(field.markers)
		down.field, down.owner = field, at.decl
		return down, true
	}
	for _, in := range at.inlined {
		if down, ok := s.field(in, name); ok {
			return down, true
		}
	}
	return found, false
}

// root is the type of a CRD's objects: of its kind, in the given package of its
// version, and in none of another of its versions. A struct has TypeMeta; of a type
// that is declared as another nothing is asked.
func (s *Source) root(crd *apiextensionsv1.CustomResourceDefinition, version string) (best *typeDecl) {
	most := 0
	for _, path := range slices.Sorted(maps.Keys(s.packages)) {
		p := s.packages[path]
		t := p.types[crd.Spec.Names.Kind]
		if !p.given || t == nil || t.byName != nil && !t.isKind() || p.group != "" && p.group != crd.Spec.Group {
			continue
		}
		points := 1
		if p.group != "" {
			points += 4
		}
		switch of := cmp.Or(p.version, p.name); {
		case of == version:
			points += 2
		case slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == of }):
			continue
		}
		if points > most {
			most, best = points, t
		}
	}
	return best
}

// rootSpot is the place of whole objects.
func (s *Source) rootSpot(crd *apiextensionsv1.CustomResourceDefinition, version string) spot {
	t := s.root(crd, version)
	if t == nil {
		return spot{}
	}
	return s.typeOf(t.file, &ast.Ident{Name: t.name})
}

func schemaPath(version int) string {
	return fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", version)
}

// Bound is where a bound is to be written: a marker of a field or a type.
type Bound struct {
	Position
	// Line is the text that the marker goes above.
	Line string
	// Items: the marker is one for the items of what stands there.
	Items bool
	// Of is the field or the type.
	Of string
}

// Bound finds where a bound of a schema is written, by the schema's place in the CRD,
// as vet.Place gives it; nil where that is not in the given packages.
func (s *Source) Bound(crd *apiextensionsv1.CustomResourceDefinition, field string) *Bound {
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil || !within(field, schemaPath(i)) {
			continue
		}
		at, path, schema, last := s.rootSpot(crd, v.Name), schemaPath(i), v.Schema.OpenAPIV3Schema, spot{}
		kind := property
		for path != field {
			ways := steps(schema)
			next := slices.IndexFunc(ways, func(by step) bool { return within(field, by.path(path)) })
			if next < 0 {
				return nil
			}
			by := ways[next]
			last, kind = at, by.kind
			at, path, schema = s.below(at, by), by.path(path), by.schema
		}
		return s.bound(at, last, kind)
	}
	return nil
}

// within: a place is another or below it.
func within(field, place string) bool {
	rest, ok := strings.CutPrefix(field, place)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// bound is the field of a place, or the named type of what is in a list or a map.
func (s *Source) bound(at, above spot, kind stepKind) *Bound {
	write := func(f *file, offset int, of string, items bool) *Bound {
		if !f.pkg.given {
			return nil
		}
		return &Bound{f.position(offset), f.line(offset), items, of}
	}
	switch {
	case kind == property && at.field != nil:
		return write(at.owner.file, at.field.at, at.owner.name+"."+at.field.json, false)
	case at.decl != nil && at.decl != above.decl:
		return write(at.decl.file, at.decl.at, at.decl.name, false)
	case kind == items && above.field != nil && above.expr != nil:
		if _, nested := at.expr.(*ast.ArrayType); !nested {
			return write(above.owner.file, above.field.at, above.owner.name+"."+above.field.json, true)
		}
	}
	return nil
}
