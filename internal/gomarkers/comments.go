package gomarkers

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

// of are the markers of a node that begins at a place; comments before another are of
// what stands there.
func (c *comments) of(doc *ast.CommentGroup, begin, free token.Pos, inDoc bool) (all []*Marker) {
	if doc != nil {
		begin = doc.Pos()
	}
	if g := c.closest(begin, free); g != nil {
		all = append(all, c.markers(g)...)
	}
	if doc != nil {
		for _, m := range c.markers(doc) {
			m.inDoc = inDoc
			all = append(all, m)
		}
	}
	return all
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
