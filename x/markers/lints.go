package markers

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"slices"
	"strings"
)

// The names of lints; docs/lints.md has a section for each.
const (
	RuleWithoutMarker = "rule-without-marker"
	MarkerWithoutRule = "marker-without-rule"
	UnusedMarker      = "unused-marker"
	CutShort          = "cut-short"
	TypographicQuotes = "typographic-quotes"
)

// LintNames are all there are.
func LintNames() []string {
	return []string{RuleWithoutMarker, MarkerWithoutRule, UnusedMarker, CutShort, TypographicQuotes}
}

// Lint is what only the source shows of a marker.
type Lint struct {
	Name    string
	Marker  *Marker
	Message string
	Position
}

// Lints looks at the markers of the given files, once the CRDs are mapped that were
// made of them. Those of RuleWithoutMarker are the Map's to tell.
func (s *Source) Lints() (all []Lint) {
	add := func(name string, m *Marker, offset int, text string, args ...any) {
		all = append(all, Lint{name, m, fmt.Sprintf(text, args...), m.file.position(offset)})
	}
	kinds, made := s.reached(), s.mapped()
	for _, m := range s.given {
		if at, why := m.cut(); why != "" {
			add(CutShort, m, at, "a generator reads the marker no further than here: %s; write \" in a quoted rule as \\\", or quote the rule with backticks", why)
		}
		if at := m.typographic(); at >= 0 {
			add(TypographicQuotes, m, at, "gofmt turns '' and `` in a type's comment into ” and “, which CEL does not read: write \"\" for an empty text, in a quoted marker \\\"\\\"")
		}
		switch to := m.misplaced(); {
		case to != "":
			add(UnusedMarker, m, m.start, "no generator reads %s here: move it %s", m.Name, to)
		case m.used || m.bad != nil:
		case m.decl == nil:
			add(UnusedMarker, m, m.start, "the marker stands at no type and no field, so no generator reads it: move it into the comment of what it is about")
		case len(kinds) > 0 && !kinds[m.decl]:
			add(UnusedMarker, m, m.start, "no kind of these packages uses %s: the rule is never asked", m.decl.name)
		case made[m.decl]:
			add(MarkerWithoutRule, m, m.start, "no CRD that was given has this rule: generate them again")
		}
	}
	slices.SortStableFunc(all, func(a, b Lint) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return all
}

// cut is where a marker is read to, where that is not its end.
func (m *Marker) cut() (offset int, why string) {
	if m.bad != nil {
		return m.bad.offset, m.bad.message
	}
	v := m.value("rule")
	switch {
	case m.Made != "" || v == nil || v.quote() != 0:
	case unbalanced(v.Text):
		return v.offset(len(v.Text)), "a bare rule ends at its first comma, semicolon or closing brace"
	case v.cut:
		return v.offset(len(v.Text)), "a space before the comma takes the last word of a bare rule away"
	}
	return 0, ""
}

// unbalanced: brackets are open at the end, outside of strings or not.
func unbalanced(rule string) bool {
	return strings.Count(rule, "(") > strings.Count(rule, ")") || strings.Count(rule, "[") > strings.Count(rule, "]") || strings.Count(rule, "{") > strings.Count(rule, "}")
}

// typographic is where a quote stands that gofmt has turned, or will turn, into
// another; -1 is nowhere.
func (m *Marker) typographic() int {
	for _, name := range []string{"rule", "messageExpression"} {
		v := m.value(name)
		if v == nil {
			continue
		}
		if i := strings.IndexAny(v.Text, "“”"); i >= 0 {
			return v.offset(i)
		}
		if i := strings.Index(v.raw, "''"); i >= 0 && m.inDoc && m.rewritten() {
			return v.start + i
		}
	}
	return -1
}

// rewritten asks gofmt whether it would leave the marker as it is.
func (m *Marker) rewritten() bool {
	if m.file.afterGofmt == nil {
		m.file.afterGofmt = map[string]bool{}
		text, _ := format.Source([]byte(m.file.text))
		for line := range strings.Lines(string(text)) {
			if _, comment, ok := strings.Cut(line, "//"); ok {
				m.file.afterGofmt[strings.TrimSpace(comment)] = true
			}
		}
	}
	return len(m.file.afterGofmt) > 0 && !m.file.afterGofmt[m.file.text[m.start:m.end]]
}

// reached are the types of all kinds; empty where the packages have none.
func (s *Source) reached() map[*typeDecl]bool {
	seen := map[*typeDecl]bool{}
	for _, p := range s.packages {
		for _, t := range p.types {
			if t.isKind() || s.roots[t] {
				s.reach(t, seen)
			}
		}
	}
	return seen
}

// mapped are the types of the kinds that CRDs were mapped of.
func (s *Source) mapped() map[*typeDecl]bool {
	seen := map[*typeDecl]bool{}
	for t := range s.roots {
		s.reach(t, seen)
	}
	return seen
}

// isKind: objects have a type of their own, and a list of them has, too.
func (t *typeDecl) isKind() bool {
	return slices.ContainsFunc(t.fields, func(f *fieldDecl) bool { return f.inline && embeddedName(f.expr) == "TypeMeta" })
}

// reach adds a type and those that it is made of. It does not read what was not read.
func (s *Source) reach(from *typeDecl, seen map[*typeDecl]bool) {
	left := []*typeDecl{from}
	for len(left) > 0 {
		t := left[len(left)-1]
		left = left[:len(left)-1]
		if seen[t] {
			continue
		}
		seen[t] = true
		left = append(left, s.parts(t)...)
	}
}

// parts are the types that one is made of, but for those of fields that have no schema.
func (s *Source) parts(t *typeDecl) (all []*typeDecl) {
	exprs := []ast.Expr{t.expr}
	if t.byName != nil {
		exprs = nil
		for _, f := range t.fields {
			if !f.schemaless {
				exprs = append(exprs, f.expr)
			}
		}
	}
	add := func(p *goPackage, name string) {
		if p != nil && p.types[name] != nil {
			all = append(all, p.types[name])
		}
	}
	for _, e := range exprs {
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				add(t.file.pkg, n.Name)
			case *ast.SelectorExpr:
				if name, ok := n.X.(*ast.Ident); ok {
					add(s.packages[t.file.importPath(name.Name)], n.Sel.Name)
				}
				return false
			}
			return true
		})
	}
	return all
}

// Missing says of a package why it could not be read; nil where nothing is missing.
func (s *Source) Missing(importPath string) error { return s.failed[importPath] }
