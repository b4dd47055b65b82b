package markers

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// comments gives the markers of a file to the nodes that they stand at, as
// controller-tools does: to a type or a field come those in its doc comment, and
// those in the closest comment above it.
type comments struct {
	*file
	groups []*ast.CommentGroup // in order
	found  map[*ast.Comment][]*Marker
	taken  map[*ast.CommentGroup]bool
}

// at are the comments of a node that begins at a place: the closest above it, and its
// doc. Comments before another place are of what stands there.
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

// of are the markers of comments.
func (c *comments) of(groups []*ast.CommentGroup) (all []*Marker) {
	for _, g := range groups {
		all = append(all, c.markers(g)...)
	}
	return all
}

// schemaless: a generator looks at the field's own markers, and not at its type.
func schemaless(groups []*ast.CommentGroup) bool {
	return slices.ContainsFunc(groups, func(g *ast.CommentGroup) bool {
		return slices.ContainsFunc(g.List, func(c *ast.Comment) bool {
			text, ok := strings.CutPrefix(c.Text, "//")
			return ok && strings.TrimSpace(text) == "+kubebuilder:validation:Schemaless"
		})
	})
}

// closest is the last comment between two places.
func (c *comments) closest(begin, free token.Pos) *ast.CommentGroup {
	i, _ := slices.BinarySearchFunc(c.groups, begin, func(g *ast.CommentGroup, at token.Pos) int { return int(g.Pos() - at) })
	if i == 0 || c.groups[i-1].Pos() < free {
		return nil
	}
	return c.groups[i-1]
}

// behind is where comments begin that are not of what ends at a place: on the next line.
func (c *comments) behind(end token.Pos) token.Pos {
	if line := c.lineAt(c.offset(end)) + 1; line < len(c.lines) {
		return c.tokens.Pos(c.lines[line])
	}
	return c.tokens.Pos(len(c.text))
}

// markers are those of a comment, made once.
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

// stray are markers that stand at no type and no field, nor at one that someone made
// a comment.
func (c *comments) stray() (all []*Marker) {
	for _, g := range c.groups {
		tagged := func(line *ast.Comment) bool { return strings.Contains(line.Text, "`json:") }
		if !c.taken[g] && !slices.ContainsFunc(g.List, tagged) {
			all = append(all, c.markers(g)...)
		}
	}
	return all
}
