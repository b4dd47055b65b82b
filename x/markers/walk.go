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

type step struct {
	below  string // the child's path in the CRD, below the schema's path
	name   string // of a property
	schema *apiextensionsv1.JSONSchemaProps
}

const itemsOf, valuesOf = ".items", ".additionalProperties"

func (by step) isProperty() bool { return by.below != itemsOf && by.below != valuesOf }

// steps returns the steps of a schema in order. Rules in anyOf and similar keywords are not
// allowed, so these keywords are not followed.
func steps(schema *apiextensionsv1.JSONSchemaProps) (list []step) {
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		below := schema.Properties[name]
		list = append(list, step{".properties[" + name + "]", name, &below})
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		list = append(list, step{itemsOf, "", schema.Items.Schema})
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		list = append(list, step{valuesOf, "", schema.AdditionalProperties.Schema})
	}
	return list
}

// branch is a schema with rules in it or below it, and its children of that kind.
type branch struct {
	step
	below []*branch
}

// branches returns nil if no schema at or below by has rules, so that it is not searched.
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
	var element ast.Expr
	switch e := at.expr.(type) {
	case *ast.StructType:
		if by.isProperty() {
			found, _ := s.field(at, by.name)
			return found
		}
	case *ast.ArrayType:
		if by.below == itemsOf {
			element = e.Elt
		}
	case *ast.MapType:
		if by.below == valuesOf {
			element = e.Value
		}
	}
	if element == nil {
		return spot{unknown: at.unknown, missing: at.missing}
	}
	down := s.typeOf(at.file, element)
	if by.below == itemsOf {
		down.above = at.sets
	}
	down.field, down.owner = at.field, at.owner
	return down
}

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

func (s *Source) rootSpot(t *typeDecl) spot {
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
		at, above, path, by := s.rootSpot(s.root(crd, v.Name)), spot{}, schemaPath(i), step{schema: v.Schema.OpenAPIV3Schema}
		for path != field {
			ways := steps(by.schema)
			next := slices.IndexFunc(ways, func(by step) bool { return within(field, path+by.below) })
			if next < 0 {
				return nil
			}
			by = ways[next]
			at, above, path = s.below(at, by), at, path+by.below
		}
		return s.bound(at, above, by)
	}
	return nil
}

func within(field, parent string) bool {
	rest, ok := strings.CutPrefix(field, parent)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func (s *Source) bound(at, above spot, by step) *Bound {
	write := func(f *file, offset int, of string, items bool) *Bound {
		if !f.pkg.given {
			return nil
		}
		return &Bound{f.position(offset), f.line(offset), items, of}
	}
	switch {
	case by.isProperty() && at.field != nil:
		return write(at.owner.file, at.field.at, at.owner.name+"."+at.field.json, false)
	case at.decl != nil && at.decl != above.decl:
		return write(at.decl.file, at.decl.at, at.decl.name, false)
	case by.below == itemsOf && above.field != nil && above.expr != nil:
		if _, nested := at.expr.(*ast.ArrayType); !nested {
			return write(above.owner.file, above.field.at, above.owner.name+"."+above.field.json, true)
		}
	}
	return nil
}
