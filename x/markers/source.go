package markers

import (
	"bytes"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// File is a Go file as text.
type File struct {
	// Name is how the file is called in positions.
	Name string
	// Package is its import path.
	Package string
	Text    []byte
}

// Config says what the source may ask for.
type Config struct {
	// Import gives the files of a package that the given ones import; nil gives
	// none. It is asked once a package, and only for one that leads to a rule.
	Import func(path string) ([]File, error)
}

// Source is parsed Go source. It is not safe for concurrent use.
type Source struct {
	cfg      Config
	packages map[string]*goPackage
	failed   map[string]error // packages that cannot be read
	given    []*Marker        // of the given files, in order
	byRule   map[string][]*Marker
	spots    map[*typeDecl]spot // of types that were met
	roots    map[*typeDecl]bool // the kinds of CRDs that were mapped
	problems []Problem
}

// Problem is what cannot be read.
type Problem struct {
	Position
	Message string
}

// goPackage is a package's types.
type goPackage struct {
	// name is the package clause's, group and version what its markers say.
	name, group, version string
	types                map[string]*typeDecl
	given                bool // not imported
}

// file is one parsed file.
type file struct {
	name, text string
	lines      []int // where each begins
	tokens     *token.File
	pkg        *goPackage
	imports    map[string]string // paths by name

	afterGofmt map[string]bool // the file's comments then; nil where nobody asked
}

// typeDecl is the declaration of a type.
type typeDecl struct {
	name    string
	file    *file
	at      int // offset of the name
	expr    ast.Expr
	markers *markerSet
	fields  []*fieldDecl          // of a struct
	byName  map[string]*fieldDecl // those that are not inlined
	unset   *markerSet            // what fields add to the struct
}

// fieldDecl is a field of a struct.
type fieldDecl struct {
	json    string // its name in objects
	inline  bool
	at      int
	expr    ast.Expr
	markers *markerSet
	// schemaless: what the type says is not asked.
	schemaless bool
}

// Parse reads files. What cannot be read is told by Problems; the rest counts.
func Parse(files []File, cfg Config) *Source {
	s := &Source{cfg: cfg, packages: map[string]*goPackage{}, failed: map[string]error{}, byRule: map[string][]*Marker{}, roots: map[*typeDecl]bool{}, spots: map[*typeDecl]spot{}}
	for _, f := range files {
		s.given = append(s.given, s.add(f)...)
		s.packages[f.Package].given = true
	}
	for _, m := range s.given {
		if m.misplaced() == "" {
			s.byRule[m.Rule()] = append(s.byRule[m.Rule()], m)
		}
	}
	return s
}

// Problems are the files that cannot be read.
func (s *Source) Problems() []Problem { return s.problems }

// Markers are those of the given files, in order.
func (s *Source) Markers() []*Marker { return s.given }

// add parses a file and gives its markers.
func (s *Source) add(in File) []*Marker {
	p := s.packages[in.Package]
	if p == nil {
		p = &goPackage{types: map[string]*typeDecl{}}
		s.packages[in.Package] = p
	}
	if !bytes.Contains(in.Text, []byte("type")) && !bytes.Contains(in.Text, []byte("+")) {
		return nil
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, in.Name, in.Text, parser.ParseComments|parser.SkipObjectResolution)
	f := &file{name: in.Name, text: string(in.Text), pkg: p, imports: map[string]string{}}
	f.index()
	if err != nil {
		s.problems = append(s.problems, f.problem(err))
	}
	if tree == nil || !built(tree) {
		return nil
	}
	f.tokens = set.File(tree.FileStart)
	if f.tokens == nil {
		return nil
	}
	return f.read(tree)
}

// problem is the first error of a parser, where it stands in this file, whatever
// line directives say.
func (f *file) problem(err error) Problem {
	if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 {
		return Problem{f.position(max(0, min(list[0].Pos.Offset, len(f.text)))), list[0].Msg}
	}
	return Problem{Position{File: f.name}, err.Error()}
}

// index finds where lines begin.
func (f *file) index() {
	f.lines = []int{0}
	for i := range len(f.text) {
		if f.text[i] == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
}

// lineAt is the line of an offset, from 0.
func (f *file) lineAt(offset int) int {
	i, found := slices.BinarySearch(f.lines, offset)
	if !found {
		i--
	}
	return i
}

// offset is a position's place in the file.
func (f *file) offset(p token.Pos) int { return f.tokens.Offset(p) }

// built is true for a file that is part of its package on a usual machine: a
// generator reads no other.
func built(tree *ast.File) bool {
	for _, g := range tree.Comments {
		if g.Pos() >= tree.Package {
			break
		}
		for _, c := range g.List {
			if x, err := constraint.Parse(c.Text); err == nil && constraint.IsGoBuild(c.Text) && !x.Eval(usual) {
				return false
			}
		}
	}
	return true
}

func usual(tag string) bool {
	return tag == "ignore_autogenerated" || tag == "linux" || tag == "amd64" || tag == "unix" || tag == "gc" || strings.HasPrefix(tag, "go1.")
}

// read takes the types and the markers out of a file.
func (f *file) read(tree *ast.File) (all []*Marker) {
	f.packageMarkers(tree)
	for _, spec := range tree.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			name := path.Base(p)
			if spec.Name != nil {
				name = spec.Name.Name
			}
			f.imports[name] = p
		}
	}
	c := &comments{file: f, groups: tree.Comments, found: map[*ast.Comment][]*Marker{}, taken: map[*ast.CommentGroup]bool{}}
	free := c.behind(tree.Name.End())
	for _, decl := range tree.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.TYPE {
			all = append(all, f.typeDecls(c, d, free)...)
		}
		free = c.behind(decl.End())
	}
	return append(all, c.stray()...)
}

func (f *file) typeDecls(c *comments, d *ast.GenDecl, free token.Pos) (all []*Marker) {
	if d.Lparen.IsValid() {
		free = d.Lparen // what stands on its line is of the first type, and so with structs
	}
	for _, spec := range d.Specs {
		spec, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		doc, begin := spec.Doc, spec.Pos()
		if !d.Lparen.IsValid() {
			doc, begin = d.Doc, d.Pos()
		}
		t := &typeDecl{name: spec.Name.Name, file: f, at: f.offset(spec.Name.Pos()), expr: spec.Type}
		markers := c.of(c.at(doc, begin, free))
		for _, m := range markers {
			m.inDoc = doc != nil && m.start > f.offset(doc.Pos())
			m.Type, m.decl = t.name, t
		}
		t.markers = newSet(markers)
		all = append(all, markers...)
		if body, ok := spec.Type.(*ast.StructType); ok {
			all = append(all, t.readFields(c, body)...)
		}
		if f.pkg.types[t.name] == nil {
			f.pkg.types[t.name] = t
		}
		free = c.behind(spec.End())
	}
	return all
}

func (t *typeDecl) readFields(c *comments, body *ast.StructType) (all []*Marker) {
	free, unset := body.Fields.Opening, []*Marker(nil)
	t.byName = map[string]*fieldDecl{}
	for _, field := range body.Fields.List {
		comments := c.at(field.Doc, field.Pos(), free)
		markers := c.of(comments)
		free = c.behind(field.End())
		f := &fieldDecl{at: t.file.offset(field.Pos()), expr: field.Type, schemaless: schemaless(comments)}
		name := embeddedName(field.Type)
		if len(field.Names) > 0 {
			name = field.Names[0].Name
		}
		f.json, f.inline = jsonName(field.Tag, len(field.Names) == 0)
		for _, m := range markers {
			m.Type, m.Field, m.decl, m.hidden = t.name, name, t, f.json == "-"
			if m.Name == immutableName {
				unset = append(unset, alsoUnset(m, f.json))
			}
		}
		f.markers = newSet(markers)
		all = append(all, markers...)
		if f.json == "-" {
			continue
		}
		t.fields = append(t.fields, f)
		if !f.inline && t.byName[f.json] == nil {
			t.byName[f.json] = f
		}
	}
	t.unset = newSet(unset)
	return all
}

// embeddedName is the name of a field that has only a type.
func embeddedName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return embeddedName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}
