package markers

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
)

// spot is the Go counterpart of a schema node.
type spot struct {
	// sets holds the markers that may have made rules of the node or of its items. above holds the
	// markers of the list that the node is an item of.
	sets, above []markerSet
	// expr is a struct, list, or map type in file, or nil if the node is another type or unknown.
	expr ast.Expr
	file *file
	// decl is the named type of expr, and field the field that leads to the node.
	decl  *typeDecl
	field *fieldDecl
	owner *typeDecl // of field
	// inlined holds the structs that are embedded in expr.
	inlined []spot
	// unknown is set if the type could not be resolved. missing is the package that declares it, if
	// that package could not be read.
	unknown bool
	missing string
}

// maxLinkedTypes limits how many types a node may lead to.
const maxLinkedTypes = 10_000

type resolver struct {
	*Source
	seen map[*typeDecl]bool
}

// typeOf returns the spot of a type expression in a file. Named types are resolved once.
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
		at.sets = slices.Clip(at.sets) // each node appends its own
		s.spots[t] = at
	}
	return at
}

// named returns the type that an expression names, or the package that declares it if that could not be read.
func (s *Source) named(f *file, e ast.Expr) (t *typeDecl, missing string) {
	switch x := withoutParens(e).(type) {
	case *ast.Ident:
		return f.pkg.types[x.Name], ""
	case *ast.SelectorExpr:
		return s.imported(f, x)
	}
	return nil, ""
}

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

// typeOf collects the markers of all named types on the way to a struct, list, or map.
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
			if at.unknown = at.decl == nil; !at.unknown { // generators reject anonymous structs
				r.inline(&at)
			}
			return at
		case *ast.ArrayType, *ast.MapType:
			at.expr, at.file = e, f
			return at
		default: // for example a generic type
			at.unknown = true
		}
		if t == nil || r.seen[t] {
			return at
		}
		if len(r.seen) > maxLinkedTypes {
			at.unknown = true
			return at
		}
		r.seen[t] = true
		at.add(t.markers)
		at.decl = t
		f, e = t.file, t.expr
	}
}

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

func (s *Source) imported(f *file, x *ast.SelectorExpr) (t *typeDecl, missing string) {
	name, ok := x.X.(*ast.Ident)
	if !ok {
		return nil, ""
	}
	importPath := f.importPath(name.Name)
	if importPath == "" || hasNoMarkers(importPath) {
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

// plain reports whether a name that these packages do not declare is a predeclared type or belongs
// to a package without rules. Any other name comes from a file or dot import that was not read.
func (s *Source) plain(f *file, e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return !e.IsExported()
	case *ast.SelectorExpr:
		if name, ok := e.X.(*ast.Ident); ok {
			importPath := f.importPath(name.Name)
			return hasNoMarkers(importPath) || standard(importPath) && s.packages[importPath] == nil
		}
	}
	return false
}

// importPath returns the path of the import that a file uses under name. For an import without an
// explicit name, it guesses from the end of the path.
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

// isMajor reports whether base is a major version suffix of a module path, such as v2.
func isMajor(base string) bool {
	return len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == ""
}

// hasNoMarkers reports whether a package belongs to Kubernetes and has no markers. Packages of k8s.io/api have some.
func hasNoMarkers(importPath string) bool {
	return strings.HasPrefix(importPath, "k8s.io/apimachinery/") || strings.HasPrefix(importPath, "k8s.io/apiextensions-apiserver/")
}

// standard reports whether a package may belong to the standard library, because the first element
// of its path has no dot. Some projects use such paths as well, and their packages can be read.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

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
