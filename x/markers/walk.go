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

// step leads from a schema to a child schema.
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

// steps returns the steps of a schema in order. Rules in anyOf and similar keywords are not
// allowed, so these keywords are not followed.
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

// path returns the path of the child schema in the CRD, given its parent's path.
func (by step) path(above string) string {
	switch by.kind {
	case items:
		return above + ".items"
	case values:
		return above + ".additionalProperties"
	}
	return above + ".properties[" + by.name + "]"
}

// branch is a schema with rules in it or below it, and its children of that kind.
type branch struct {
	step
	below []*branch
}

// branches returns nil if a schema and its children have no rules, so that they are not searched.
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
			return s.elementSpot(down, at)
		}
	case *ast.MapType:
		if by.kind == values {
			return s.elementSpot(s.typeOf(at.file, e.Value), at)
		}
	}
	return spot{unknown: at.unknown, missing: at.missing}
}

// elementSpot copies the field of a list or map to the spot of its elements.
func (s *Source) elementSpot(down, at spot) spot {
	down.field, down.owner = at.field, at.owner
	return down
}

// field returns the field of a struct, or of a struct embedded in it, by its name in objects.
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

// root returns the type of a CRD's objects: the type named after its kind in a given package that
// matches the version. Packages of another version of the CRD do not match. A struct must embed
// TypeMeta; a type that is declared as another type need not.
func (s *Source) root(crd *apiextensionsv1.CustomResourceDefinition, version string) (best *typeDecl) {
	mostPoints := 0
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
		if points > mostPoints {
			mostPoints, best = points, t
		}
	}
	return best
}

// rootSpot returns the spot of whole objects.
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

// Bound is the position at which to write a bound: above a field or a type.
type Bound struct {
	Position
	// Line is the line of source above which to write the marker.
	Line string
	// Items is set if the marker must apply to the items of the field.
	Items bool
	// Of is the name of the field or type.
	Of string
}

// Bound returns the position of a bound, given the path of its schema in the CRD as returned by
// vet.Place. It returns nil if the given packages do not declare it.
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

// within reports whether field equals parent or is below it.
func within(field, parent string) bool {
	rest, ok := strings.CutPrefix(field, parent)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// bound returns the position of a field, or of the named type of the elements of a list or map.
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
