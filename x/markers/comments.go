package markers

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// comments assigns the markers of a file to types and fields, as controller-tools does: the markers
// in the doc comment of a type or field, and those in the closest comment above it.
type comments struct {
	*file
	groups []*ast.CommentGroup // in order
	found  map[*ast.Comment][]*Marker
	taken  map[*ast.CommentGroup]bool
}

// at returns the comments of a node that begins at begin: the closest comment above it, and its doc
// comment. Comments before free belong to earlier nodes.
func (c *comments) at(doc *ast.CommentGroup, begin, free token.Pos) (groups []*ast.CommentGroup) {
	if doc != nil {
		begin = doc.Pos()
	}
	if g := c.closest(begin, free); g != nil {
		groups = append(groups, g)
	}
	if doc != nil {
		groups = append(groups, doc)
	}
	return groups
}

func (c *comments) of(groups []*ast.CommentGroup) (all []*Marker) {
	for _, g := range groups {
		all = append(all, c.markers(g)...)
	}
	return all
}

// schemaless reports whether the comments of a field contain the Schemaless marker. Generators then
// use the markers of the field, but not of its type.
func schemaless(groups []*ast.CommentGroup) bool {
	return slices.ContainsFunc(groups, func(g *ast.CommentGroup) bool {
		return slices.ContainsFunc(g.List, func(c *ast.Comment) bool {
			text, ok := strings.CutPrefix(c.Text, "//")
			return ok && strings.TrimSpace(text) == "+kubebuilder:validation:Schemaless"
		})
	})
}

func (c *comments) closest(begin, free token.Pos) *ast.CommentGroup {
	i, _ := slices.BinarySearchFunc(c.groups, begin, func(g *ast.CommentGroup, at token.Pos) int { return int(g.Pos() - at) })
	if i == 0 || c.groups[i-1].Pos() < free {
		return nil
	}
	return c.groups[i-1]
}

// nextLine returns the start of the line after end. Comments before it belong to the node that ends there.
func (c *comments) nextLine(end token.Pos) token.Pos {
	if line := c.lineAt(c.offset(end)) + 1; line < len(c.lines) {
		return c.tokens.Pos(c.lines[line])
	}
	return c.tokens.Pos(len(c.text))
}

// markers returns the markers of a comment group and records that it is taken. It parses each comment once.
func (c *comments) markers(g *ast.CommentGroup) (all []*Marker) {
	c.taken[g] = true
	for _, comment := range g.List {
		list, seen := c.found[comment]
		if !seen {
			if m := newMarker(c.file, comment.Text, c.offset(comment.Pos())); m != nil {
				list = []*Marker{m}
			}
			c.found[comment] = list
		}
		all = append(all, list...)
	}
	return all
}

// stray returns the markers that belong to neither a type nor a field. It omits markers of fields
// that are commented out.
func (c *comments) stray() (all []*Marker) {
	for _, g := range c.groups {
		tagged := func(line *ast.Comment) bool { return strings.Contains(line.Text, "`json:") }
		if !c.taken[g] && !slices.ContainsFunc(g.List, tagged) {
			all = append(all, c.markers(g)...)
		}
	}
	return all
}
