// Package editor finds the part of a rule around a cursor in the source of a CRD, for the language
// server and the playground:
//
//	var trees editor.Trees // of one text, kept from change to change
//	p, within := trees.At(text, offset)
//	e, ok := p.Expression(within)
//	context, err := contexts.Of(engine, crd, &e.At, e.OptionalOldSelf, functions) // for completion, hover, and fixes
package editor

import (
	"slices"

	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// An Expression is a part of a rule in a text.
type Expression struct {
	At RuleAt
	// Source is the decoded value of the part. Cursor is the cursor's offset in it, in code points.
	Source string
	Cursor int
	// CursorFollows is set if only white space separates the expression and the cursor.
	CursorFollows bool
	// Key is set if the cursor is in the key of the part.
	Key bool
	// Point returns the offset in the text of a code point of Source.
	Point func(int) int
	Style position.Style
	// OptionalOldSelf is the rule's optionalOldSelf.
	OptionalOldSelf bool
	// CRD is the metadata.name of the CRD, or "".
	CRD   string
	Tree  *position.Document
	Start int // offset of Tree in the text
}

// Expression returns the part of a rule around an offset of the document. ok is false if the offset
// is not in a part of a rule.
func (p Piece) Expression(within int) (e *Expression, ok bool) {
	spot := p.Tree.At(within)
	at, ok := RuleOf(spot.Path)
	if !ok || at.Key == "" {
		return nil, false
	}
	if e = p.scalar(spot, within); e == nil {
		return nil, false
	}
	e.At, e.CRD = at, nameIn(p.Tree, spot.Path)
	_, rule := p.Tree.Find(spot.Path[:len(spot.Path)-1])
	e.OptionalOldSelf = OptionalOldSelf(rule)
	return e, true
}

// scalar returns the value at a spot, or nil if it is not a scalar.
func (p Piece) scalar(spot position.Spot, within int) *Expression {
	node := spot.Node
	if spot.Key {
		_, node = p.Tree.Find(spot.Path)
	}
	if node == nil || node.Kind != position.Scalar {
		return nil
	}
	words, ok := p.Tree.Text(node)
	if !ok {
		return nil
	}
	e := &Expression{
		Source: node.Value, Key: spot.Key, CursorFollows: within > node.End && node.Known && node.Value != "", Style: node.Style,
		Point: func(i int) int { return p.Start + words.SourcePoint(i) },
		Tree:  p.Tree, Start: p.Start,
	}
	if !spot.Key {
		e.Cursor = words.Point(within)
	}
	return e
}

// OptionalOldSelf reports whether a rule, which may be nil, has optionalOldSelf.
func OptionalOldSelf(rule *position.Node) bool {
	if rule == nil {
		return false
	}
	_, optional := rule.Get("optionalOldSelf")
	return optional != nil && optional.Value == "true"
}

func nameIn(tree *position.Document, path position.Path) string {
	var root position.Path
	if name, _ := path[0].Name(); name == "items" && len(path) > 1 {
		root = slices.Clone(path[:2])
	}
	if _, name := tree.Find(append(root, position.Key("metadata"), position.Key("name"))); name != nil {
		return name.Value
	}
	return ""
}
