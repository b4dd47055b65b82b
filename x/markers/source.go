package markers

import (
	"bytes"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// File is a Go file in memory.
type File struct {
	// Name is the name of the file in positions.
	Name string
	// Package is the import path of its package.
	Package string
	Text    []byte
}

// Config holds options for Parse.
type Config struct {
	// Import returns the files of an imported package. If nil, imports are not followed. Import is
	// called at most once per package, and only for packages that may lead to a rule.
	Import func(path string) ([]File, error)
}

// Source is parsed Go source. It is not safe for concurrent use.
type Source struct {
	cfg      Config
	packages map[string]*goPackage
	failed   map[string]error // packages that cannot be read
	given    []*Marker        // of the given files, in order
	byRule   map[string][]*Marker
	spots    map[*typeDecl]spot // by resolved type
	roots    map[*typeDecl]bool // the kinds of CRDs that were mapped
	problems []Problem
}

// Problem is a syntax error in a file.
type Problem struct {
	Position
	Message string
}

type goPackage struct {
	// name is from the package clause; group and version are from package markers.
	name, group, version string
	types                map[string]*typeDecl
	given                bool // not imported
	ignored              []ignoredMarker
}

// file is a parsed Go file.
type file struct {
	name, text string
	lines      []int // the offset of each line
	tokens     *token.File
	pkg        *goPackage
	imports    map[string]string // paths by name

	afterGofmt map[string]bool // the file's comments after gofmt; nil until needed
}

type typeDecl struct {
	name    string
	file    *file
	at      int // offset of the name
	expr    ast.Expr
	markers *markerSet
	fields  []*fieldDecl          // of a struct
	byName  map[string]*fieldDecl // fields that are not inlined
	unset   *markerSet            // markers that fields add to the struct
}

type fieldDecl struct {
	json    string // its name in objects
	inline  bool
	at      int
	expr    ast.Expr
	markers *markerSet
	// schemaless is set if the markers of the field's type are ignored.
	schemaless bool
}

// Parse parses files. Files with syntax errors are reported by Problems, and as much of them as
// possible is used.
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

// Problems returns the files that could not be parsed.
func (s *Source) Problems() []Problem { return s.problems }

// Markers returns the markers of the given files in order.
func (s *Source) Markers() []*Marker { return s.given }

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

// problem converts the first error of a parser. Its position ignores line directives.
func (f *file) problem(err error) Problem {
	if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 {
		return Problem{f.position(max(0, min(list[0].Pos.Offset, len(f.text)))), list[0].Msg}
	}
	return Problem{Position{File: f.name}, err.Error()}
}

// index records the offset of each line.
func (f *file) index() {
	f.lines = []int{0}
	for i := range len(f.text) {
		if f.text[i] == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
}

// lineAt returns the index of the line that contains an offset.
func (f *file) lineAt(offset int) int {
	i, found := slices.BinarySearch(f.lines, offset)
	if !found {
		i--
	}
	return i
}

func (f *file) offset(p token.Pos) int { return f.tokens.Offset(p) }

// built reports whether build constraints include the file on a typical machine. Generators skip
// all other files.
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

// read collects the types of a file and returns its markers.
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
	free := c.nextLine(tree.Name.End())
	for _, decl := range tree.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.TYPE {
			all = append(all, f.typeDecls(c, d, free)...)
		}
		free = c.nextLine(decl.End())
	}
	f.pkg.ignored = append(f.pkg.ignored, c.ignored()...)
	return append(all, c.stray()...)
}

func (f *file) typeDecls(c *comments, d *ast.GenDecl, free token.Pos) (all []*Marker) {
	if d.Lparen.IsValid() {
		free = d.Lparen // comments on this line belong to the first type; the same holds for structs
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
		free = c.nextLine(spec.End())
	}
	return all
}

func (t *typeDecl) readFields(c *comments, body *ast.StructType) (all []*Marker) {
	free, unset := body.Fields.Opening, []*Marker(nil)
	t.byName = map[string]*fieldDecl{}
	for _, field := range body.Fields.List {
		comments := c.at(field.Doc, field.Pos(), free)
		markers := c.of(comments)
		free = c.nextLine(field.End())
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

// jsonName returns the name of a field in objects, and whether the fields of its type are inlined.
// The name of a field that is not in objects is "-".
func jsonName(tag *ast.BasicLit, embedded bool) (name string, inline bool) {
	text := ""
	if tag != nil {
		text, _ = strconv.Unquote(tag.Value)
	}
	value, tagged := reflect.StructTag(text).Lookup("json")
	if value == "-" || !tagged && !embedded {
		return "-", false
	}
	name, options, _ := strings.Cut(value, ",")
	return name, name == "" || strings.Contains(","+options+",", ",inline,")
}

// packageMarkers reads the group and version markers of a package. They can be above the package
// clause or anywhere between declarations.
func (f *file) packageMarkers(tree *ast.File) {
	if f.pkg.name == "" {
		f.pkg.name = tree.Name.Name
	}
	for _, g := range tree.Comments {
		for _, c := range g.List {
			text := strings.TrimSpace(strings.TrimPrefix(c.Text, "//"))
			if v, ok := strings.CutPrefix(text, "+groupName="); ok {
				f.pkg.group = v
			}
			if v, ok := strings.CutPrefix(text, "+versionName="); ok {
				f.pkg.version = v
			}
		}
	}
}
