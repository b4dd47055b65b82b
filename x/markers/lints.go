package markers

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"maps"
	"slices"
	"strings"
)

// The names of lints. Each has a section in docs/lints.md.
const (
	RuleWithoutMarker = "rule-without-marker"
	MarkerWithoutRule = "marker-without-rule"
	UnusedMarker      = "unused-marker"
	CutShort          = "cut-short"
	TypographicQuotes = "typographic-quotes"
	IgnoredMarker     = "ignored-marker"
)

// LintNames returns the names of all lints.
func LintNames() []string {
	return []string{RuleWithoutMarker, MarkerWithoutRule, UnusedMarker, CutShort, TypographicQuotes, IgnoredMarker}
}

// Lint is a problem of a marker that is only visible in the source.
type Lint struct {
	Name    string
	Marker  *Marker
	Message string
	Position
}

// Lints checks the markers of the given files. Call it after all CRDs that were generated from them
// have been passed to Map. It does not report RuleWithoutMarker, which follows from Map.
func (s *Source) Lints() (all []Lint) {
	add := func(name string, m *Marker, offset int, text string, args ...any) {
		all = append(all, Lint{name, m, fmt.Sprintf(text, args...), m.file.position(offset)})
	}
	kinds, made := s.reached(), s.reach(slices.Collect(maps.Keys(s.roots)))
	for _, m := range s.given {
		if at, why := m.cut(); why != "" {
			add(CutShort, m, at, "generators ignore the rest of the marker: %s", why)
		}
		if at := m.typographic(); at >= 0 {
			add(TypographicQuotes, m, at, "gofmt turns '' and `` in a type's comment into ” and “, which are not valid in CEL: write \"\" for an empty string, or \\\"\\\" in a quoted marker")
		}
		switch to := m.misplaced(); {
		case to != "":
			add(UnusedMarker, m, m.start, "generators ignore %s here: move it %s", m.Name, to)
		case m.used || m.bad != nil:
		case m.decl == nil:
			add(UnusedMarker, m, m.start, "the marker belongs to no type or field, so generators ignore it: move it into the doc comment of its type or field")
		case len(kinds) > 0 && !kinds[m.decl]:
			add(UnusedMarker, m, m.start, "no kind in these packages uses %s: the rule is never evaluated", m.decl.name)
		case made[m.decl]:
			add(MarkerWithoutRule, m, m.start, "none of the CRDs has this rule: regenerate them")
		}
	}
	for _, p := range s.packages {
		for _, m := range p.ignored {
			if p.given {
				add(IgnoredMarker, m.Marker, m.start, "generators ignore this comment: %s", m.why)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Lint) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return all
}

// cut returns the offset at which a generator stops reading a marker and the reason, or "" if it
// reads the whole marker.
func (m *Marker) cut() (offset int, why string) {
	if m.bad != nil {
		return m.bad.offset, m.bad.message
	}
	v := m.value("rule")
	switch {
	case m.Made != "" || v == nil || v.quote() != 0:
	case unbalanced(v.Text):
		return v.offset(len(v.Text)), "a bare rule ends at its first comma, semicolon, or closing brace" + quoting
	case v.cut:
		return v.offset(len(v.Text)), "a space before the comma removes the last word of a bare rule" + quoting
	}
	return 0, ""
}

// unbalanced reports whether rule has more opening than closing brackets of a kind. It also counts
// brackets in strings.
func unbalanced(rule string) bool {
	return strings.Count(rule, "(") > strings.Count(rule, ")") || strings.Count(rule, "[") > strings.Count(rule, "]") || strings.Count(rule, "{") > strings.Count(rule, "}")
}

// typographic returns the offset of a typographic quote, or of a quote that gofmt will replace by one, or -1.
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

// reached returns the types that are part of any kind. It is empty if the packages have no kinds.
func (s *Source) reached() map[*typeDecl]bool {
	roots := slices.Collect(maps.Keys(s.roots))
	for _, p := range s.packages {
		for _, t := range p.types {
			if t.isKind() {
				roots = append(roots, t)
			}
		}
	}
	return s.reach(roots)
}

// isKind reports whether t embeds TypeMeta, as the types of objects and their lists do.
func (t *typeDecl) isKind() bool {
	return slices.ContainsFunc(t.fields, func(f *fieldDecl) bool { return f.inline && embeddedName(f.expr) == "TypeMeta" })
}

// reach returns types and all of their parts. It does not load packages.
func (s *Source) reach(left []*typeDecl) map[*typeDecl]bool {
	seen := map[*typeDecl]bool{}
	for len(left) > 0 {
		t := left[len(left)-1]
		left = left[:len(left)-1]
		if !seen[t] {
			seen[t] = true
			left = append(left, s.parts(t)...)
		}
	}
	return seen
}

// parts returns the types of the fields or elements of t. It omits fields without a schema.
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

// Missing returns the error of Config.Import for a package, or nil if the package was read or never imported.
func (s *Source) Missing(importPath string) error { return s.failed[importPath] }
