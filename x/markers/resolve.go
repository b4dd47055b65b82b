package markers

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
)

// spot is what Go says of a place in a schema.
type spot struct {
	// sets have the markers that may have made rules of the place, or of its items;
	// above those of the list that it is an item of.
	sets, above []*markerSet
	// expr is a struct, a list or a map, in decl's file; nil where it is none, or
	// is not known.
	expr ast.Expr
	file *file
	// decl is the named type that expr is of, field what led here.
	decl  *typeDecl
	field *fieldDecl
	owner *typeDecl // of field
	// inlined are the structs that stand in this one.
	inlined []spot
	// unknown: what stands here is not to be read; missing is the package that would
	// say, if that is why.
	unknown bool
	missing string
}

// mostLinks is how many types one place may be made of.
const mostLinks = 10_000

// resolver follows the types of one place.
type resolver struct {
	*Source
	seen map[*typeDecl]bool
}

// typeOf is what an expression of a file says: of a type that was met before, the
// same as then.
func (s *Source) typeOf(f *file, e ast.Expr) spot {
	t, missing := s.named(f, e)
	if t == nil {
		at := (&resolver{s, map[*typeDecl]bool{}}).typeOf(f, e)
		at.missing = missing
		return at
	}
	at, known := s.spots[t]
	if !known {
		at = (&resolver{s, map[*typeDecl]bool{}}).typeOf(f, e)
		at.sets = slices.Clip(at.sets) // each place adds its own
		s.spots[t] = at
	}
	return at
}

// named is the type that an expression names, or the package that would have it.
func (s *Source) named(f *file, e ast.Expr) (t *typeDecl, missing string) {
	switch x := withoutParens(e).(type) {
	case *ast.Ident:
		return f.pkg.types[x.Name], ""
	case *ast.SelectorExpr:
		return s.imported(f, x)
	}
	return nil, ""
}

// withoutParens is a type without pointers and brackets around it.
func withoutParens(e ast.Expr) ast.Expr {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return e
		}
	}
}

// typeOf takes the markers of all named types on the way to a struct, a list or a
// map.
func (r *resolver) typeOf(f *file, e ast.Expr) (at spot) {
	for {
		var t *typeDecl
		switch e = withoutParens(e); e.(type) {
		case *ast.Ident, *ast.SelectorExpr:
			if t, at.missing = r.named(f, e); t == nil {
				at.unknown = at.missing != "" || !r.plain(f, e)
			}
		case *ast.StructType:
			at.expr, at.file = e, f
			if at.unknown = at.decl == nil; !at.unknown { // a generator takes no nameless struct
				r.inline(&at)
			}
			return at
		case *ast.ArrayType, *ast.MapType:
			at.expr, at.file = e, f
			return at
		default: // of a generic type, for one
			at.unknown = true
		}
		if t == nil || r.seen[t] {
			return at
		}
		if len(r.seen) > mostLinks {
			at.unknown = true
			return at
		}
		r.seen[t] = true
		at.add(t.markers)
		at.decl = t
		f, e = t.file, t.expr
	}
}

// inline takes what the fields of a struct add to it.
func (r *resolver) inline(at *spot) {
	for _, field := range at.decl.fields {
		if field.inline {
			in := r.typeOf(at.decl.file, field.expr)
			in.add(field.markers)
			in.field, in.owner = field, at.decl
			at.sets = append(at.sets, in.sets...)
			at.unknown = at.unknown || in.unknown
			if at.missing == "" {
				at.missing = in.missing
			}
			at.inlined = append(at.inlined, in)
		}
	}
	at.add(at.decl.unset)
}

// imported is a type of another package.
func (s *Source) imported(f *file, x *ast.SelectorExpr) (t *typeDecl, missing string) {
	name, ok := x.X.(*ast.Ident)
	if !ok {
		return nil, ""
	}
	importPath := f.importPath(name.Name)
	if importPath == "" || ruleless(importPath) {
		return nil, ""
	}
	p := s.load(importPath)
	switch {
	case p != nil:
		return p.types[x.Sel.Name], ""
	case standard(importPath):
		return nil, ""
	}
	return nil, importPath
}

// plain is true of a name that is no type of these packages: one of the language's, or
// of packages without rules. Another is of a file or a dot import that was not read.
func (s *Source) plain(f *file, e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return !e.IsExported()
	case *ast.SelectorExpr:
		if name, ok := e.X.(*ast.Ident); ok {
			importPath := f.importPath(name.Name)
			return ruleless(importPath) || standard(importPath) && s.packages[importPath] == nil
		}
	}
	return false
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

// ruleless packages are those of Kubernetes' own that have no markers; k8s.io/api has.
func ruleless(importPath string) bool {
	return strings.HasPrefix(importPath, "k8s.io/apimachinery/") || strings.HasPrefix(importPath, "k8s.io/apiextensions-apiserver/")
}

// standard packages have no dot in the first of their names; neither have those of some
// projects, which can be read.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
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
	s.packages[importPath] = &goPackage{types: map[string]*typeDecl{}}
	for _, f := range files {
		f.Package = importPath
		s.add(f)
	}
	return s.packages[importPath]
}
