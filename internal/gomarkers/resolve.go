package gomarkers

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
)

// spot is what Go says of a place in a schema.
type spot struct {
	// markers may have made rules of the place, items of those of its items.
	markers, items []*Marker
	// expr is a struct, a list or a map, in decl's file; nil where it is none, or
	// is not known.
	expr ast.Expr
	file *file
	// decl is the named type that expr is of, field what led here.
	decl  *typeDecl
	field *fieldDecl
	owner *typeDecl // of field
	// named: a type of the given packages' own stands behind field or items.
	inlined []spot
	// missing is the package that would say more.
	missing string
}

// resolver follows the types of one place.
type resolver struct {
	*Source
	seen map[*typeDecl]bool
}

// typeOf is what an expression of a file says.
func (s *Source) typeOf(f *file, e ast.Expr) spot {
	r := &resolver{s, map[*typeDecl]bool{}}
	return r.typeOf(f, e)
}

// typeOf takes the markers of all named types on the way to a struct, a list or a
// map.
func (r *resolver) typeOf(f *file, e ast.Expr) (at spot) {
	for e != nil {
		var t *typeDecl
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
			continue
		case *ast.StarExpr:
			e = x.X
			continue
		case *ast.Ident:
			t = f.pkg.types[x.Name]
		case *ast.SelectorExpr:
			var missing string
			if t, missing = r.imported(f, x); missing != "" {
				at.missing = missing
			}
		case *ast.StructType:
			at.expr, at.file = e, f
			if at.decl != nil {
				r.inline(&at)
			}
			return at
		case *ast.ArrayType, *ast.MapType:
			at.expr, at.file = e, f
			return at
		}
		if t == nil || r.seen[t] {
			return at
		}
		r.seen[t] = true
		at.add(t.markers)
		at.decl = t
		f, e = t.file, t.expr
	}
	return at
}

// add sorts markers by what they are of.
func (at *spot) add(markers []*Marker) {
	for _, m := range markers {
		if m.items {
			at.items = append(at.items, m)
		} else {
			at.markers = append(at.markers, m)
		}
	}
}

// inline takes what the fields of a struct add to it.
func (r *resolver) inline(at *spot) {
	for _, field := range at.decl.fields {
		if field.inline {
			in := r.typeOf(at.decl.file, field.expr)
			in.add(field.markers)
			in.field, in.owner = field, at.decl
			at.markers = append(at.markers, in.markers...)
			at.items = append(at.items, in.items...)
			at.inlined = append(at.inlined, in)
			continue
		}
		for _, m := range field.markers {
			if m.Name == immutableName {
				at.markers = append(at.markers, alsoUnset(m, field.json))
			}
		}
	}
}

// imported is a type of another package.
func (r *resolver) imported(f *file, x *ast.SelectorExpr) (t *typeDecl, missing string) {
	name, ok := x.X.(*ast.Ident)
	if !ok {
		return nil, ""
	}
	importPath := f.importPath(name.Name)
	if importPath == "" || opaque(importPath) {
		return nil, ""
	}
	p := r.load(importPath)
	if p == nil {
		return nil, importPath
	}
	return p.types[x.Sel.Name], ""
}

// importPath is the path of what a file calls by a name. Where an import has no
// name of its own, that is mostly the last of its path.
func (f *file) importPath(name string) string {
	if p := f.imports[name]; p != "" {
		return p
	}
	for _, base := range slices.Sorted(maps.Keys(f.imports)) {
		p := f.imports[base]
		parent := path.Base(path.Dir(p))
		if strings.Contains(base, name) || isMajor(base) && strings.Contains(parent, name) {
			return p
		}
	}
	return ""
}

// isMajor is true for the v2 at the end of a module's path.
func isMajor(base string) bool {
	return len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == ""
}

// opaque packages have no rules: Kubernetes' own, and the standard library.
func opaque(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".") || strings.HasPrefix(importPath, "k8s.io/api/") || strings.HasPrefix(importPath, "k8s.io/apimachinery/") ||
		strings.HasPrefix(importPath, "k8s.io/apiextensions-apiserver/")
}

// load reads an imported package, once; nil where that fails.
func (s *Source) load(importPath string) *goPackage {
	if p := s.packages[importPath]; p != nil {
		return p
	}
	if s.failed[importPath] != nil || s.cfg.Import == nil {
		return nil
	}
	files, err := s.cfg.Import(importPath)
	if err != nil {
		s.failed[importPath] = err
		return nil
	}
	s.packages[importPath] = &goPackage{path: importPath, types: map[string]*typeDecl{}}
	for _, f := range files {
		f.Package = importPath
		s.add(f)
	}
	return s.packages[importPath]
}
