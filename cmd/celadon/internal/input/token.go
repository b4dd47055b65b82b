package input

import "github.com/celadon-cel/celadon/internal/yaml/position"

// Tree returns the positions in Source and the object's own node, or nil if they are unknown.
func (d *Document) Tree() (*position.Document, *position.Node) {
	root := d.root()
	if root == nil {
		return nil, nil
	}
	return d.text.parsed(), root
}

// Token returns the start and end in Source of the key or scalar value that begins at a position. It
// returns false if no key or scalar begins there.
func (d *Document) Token(at Position) (from, to int, ok bool) {
	tree, _ := d.Tree()
	line := 0
	if tree != nil {
		line = at.Line - d.text.line + 1
	}
	if line < 1 || at.Column < 1 {
		return 0, 0, false
	}
	column := at.Column
	if line == 1 {
		column -= d.text.column - 1
	}
	from = tree.Offset(line, column)
	node := tree.At(from).Node
	if node == nil || node.Start != from || !node.Known || node.Kind != position.Scalar && node.Kind != position.Alias {
		return from, from, false
	}
	return from, node.End, true
}
