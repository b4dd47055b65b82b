package lsp

import (
	"context"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/assist"
)

// tokenTypes are the token types of the protocol. tokenOf maps classes of CEL tokens to them.
var (
	tokenTypes = []string{"operator", "variable", "property", "function", "method", "macro", "keyword", "number", "string", "comment"}
	tokenOf    = map[assist.Class]uint32{
		assist.ClassOperator: 0, assist.ClassVariable: 1, assist.ClassField: 2, assist.ClassFunction: 3, assist.ClassMethod: 4,
		assist.ClassMacro: 5, assist.ClassWord: 6, assist.ClassNumber: 7, assist.ClassText: 8, assist.ClassComment: 9,
	}
)

// tokens returns the tokens of all expressions in the CRDs of a document.
func (v *view) tokens(ctx context.Context) protocol.SemanticTokens {
	e := encoder{text: v.text, data: []uint32{}}
	for p := range v.trees.All(v.text.bytes, validations) {
		if ctx.Err() != nil {
			break
		}
		if isCRD(p.Tree.Root) {
			e.piece = p
			e.walk(p.Tree.Root, nil)
		}
	}
	return protocol.SemanticTokens{Data: e.data}
}

func isCRD(root *position.Node) bool {
	if root == nil {
		return false
	}
	_, kind := root.Get("kind")
	return kind != nil && (kind.Value == resource.Kind || kind.Value == "List" || kind.Value == resource.Kind+"List")
}

// An encoder encodes tokens in the format of the protocol.
type encoder struct {
	text  *text
	piece editor.Piece
	last  protocol.Position
	data  []uint32
}

func (e *encoder) walk(n *position.Node, path position.Path) {
	for i, item := range n.Items {
		step := position.Item(i)
		if n.Kind == position.Mapping {
			step = position.Key(n.Keys[i].Value)
		}
		path := append(path, step)
		if item.Kind != position.Scalar {
			e.walk(item, path)
			continue
		}
		if at, ok := editor.RuleOf(path); ok && (at.Key == "rule" || at.Key == "messageExpression") {
			e.expression(item)
		}
	}
}

func (e *encoder) expression(n *position.Node) {
	words, ok := e.piece.Tree.Text(n)
	if !ok {
		return
	}
	for _, t := range assist.Tokens(n.Value) {
		if kind, ok := tokenOf[t.Class]; ok {
			e.lines(e.piece.Start+words.SourcePoint(t.Start), e.piece.Start+words.SourcePoint(t.End), kind)
		}
	}
}

// lines adds a token, split at line endings, because the protocol does not allow multiline tokens.
func (e *encoder) lines(from, to int, kind uint32) {
	for from < to {
		end := min(to, e.text.lineEnd(int(e.text.position(from).Line)))
		if end > from {
			e.add(from, end, kind)
		}
		for from = end; from < to && (e.text.bytes[from] == '\n' || e.text.bytes[from] == '\r' || e.text.bytes[from] == ' '); from++ {
		}
	}
}

func (e *encoder) add(from, to int, kind uint32) {
	at := e.text.position(from)
	length := uint32(0)
	for i := from; i < to; {
		r, n := utf8.DecodeRune(e.text.bytes[i:to])
		length += uint32(width(r))
		i += n
	}
	line, character := at.Line-e.last.Line, at.Character
	if line == 0 {
		character -= e.last.Character
	}
	e.data = append(e.data, line, character, length, kind, 0)
	e.last = at
}
