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

// of are the markers of a node that begins at a place, behind what ends at another.
func (c *comments) of(doc *ast.CommentGroup, begin, behind token.Pos, inDoc bool) (all []*Marker) {
	if doc != nil {
		begin = doc.Pos()
	}
	if free := c.closest(begin, behind); free != nil && free != doc {
		all = append(all, c.markers(free)...)
	}
	if doc != nil {
		for _, m := range c.markers(doc) {
			m.inDoc = inDoc
			all = append(all, m)
		}
	}
	return all
}

// closest is the last comment between two places that does not stand on the line of
// the first.
func (c *comments) closest(begin, behind token.Pos) *ast.CommentGroup {
	i, _ := slices.BinarySearchFunc(c.groups, begin, func(g *ast.CommentGroup, at token.Pos) int { return int(g.Pos() - at) })
	if i == 0 {
		return nil
	}
	g := c.groups[i-1]
	if g.Pos() < behind || behind.IsValid() && c.lineAt(c.offset(g.Pos())) == c.lineAt(c.offset(behind)) {
		return nil
	}
	return g
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
