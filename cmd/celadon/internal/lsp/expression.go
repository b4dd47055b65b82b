package lsp

import (
	"context"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/assist"
)

// expression is a part of a rule in the text of a request, and where it stands.
type expression struct {
	place *assist.Place // nil where nothing is known of the schema
	crd   *part
	at    ruleAt
	src   string
	// cursor is the request's place in it, in code points.
	cursor int
	// behind is true where only blanks stand between the expression and the place.
	behind bool
	// point is where in the text a code point stands.
	point func(int) int
	style position.Style
	tree  *position.Document // nil in Go
	start int                // of the tree in the text
	text  *text
}

// expression is what stands around an offset; nil where that is no part of a rule.
func (v *view) expression(offset int) *expression {
	if v.isGo() {
		return v.goExpression(offset)
	}
	p, within := v.trees.at(v.text, offset)
	spot := p.tree.At(within)
	at, ok := ruleOf(spot.Path)
	if !ok || spot.Key || spot.Node == nil || at.key == "" {
		return nil
	}
	words, ok := p.tree.Text(spot.Node)
	of := v.crdAround(p.index, at.item)
	if !ok || of == nil {
		return nil
	}
	return &expression{
		behind: within > spot.Node.End && spot.Node.Known && spot.Node.Value != "",
		crd:    of, at: at, place: of.crd.place(at, v.functions), src: spot.Node.Value, cursor: words.Point(within),
		point: func(i int) int { return p.start + words.SourcePoint(i) }, style: spot.Node.Style, tree: p.tree, start: p.start, text: v.text,
	}
}

// crdAround is the last CRD that could be read in a document of the file.
func (v *view) crdAround(index, item int) *part {
	if v.known == nil {
		return nil
	}
	return v.known.good[spot{index, item}]
}

// rangeOf is where code points of the expression stand.
func (e *expression) rangeOf(from, to int) protocol.Range {
	return e.text.rangeOf(e.point(from), e.point(to))
}

func (v *view) hover(_ context.Context, offset int) *protocol.Hover {
	e := v.expression(offset)
	if e == nil {
		return v.schemaHover(offset)
	}
	if e.place == nil || e.at.key != "rule" && e.at.key != "messageExpression" {
		return nil
	}
	h := e.place.Hover(e.src, e.cursor)
	if h == nil {
		return nil
	}
	at := e.rangeOf(h.Start, h.End)
	return &protocol.Hover{Contents: plain(strings.Join(h.Lines(), "\n")), Range: &at}
}

// plain is a text in which nothing steers who shows it: no mark-up, which CRDs of
// strangers could fill with links and pictures.
func plain(text string) protocol.Markup {
	return protocol.Markup{Kind: "plaintext", Value: shown(text)}
}

func (v *view) completion(_ context.Context, offset int) *protocol.CompletionList {
	e := v.expression(offset)
	if e == nil {
		return v.schemaCompletion(offset)
	}
	if e.place == nil {
		return nil
	}
	var c assist.Completion
	switch e.at.key {
	case "rule", "messageExpression":
		if e.behind {
			e.src += " " // the blank is no part of the value
			e.cursor++
		}
		c = e.place.CompleteAt(e.src, e.cursor)
	case "fieldPath":
		c = e.place.CompleteFieldPath(e.src, e.cursor)
	default:
		return nil
	}
	at := e.text.rangeOf(offset, offset)
	if !e.behind {
		at = e.rangeOf(c.Start, e.cursor)
	}
	list := &protocol.CompletionList{Items: []protocol.CompletionItem{}}
	for i, candidate := range c.Candidates {
		list.Items = append(list.Items, protocol.CompletionItem{
			Label: shown(candidate.Text), Kind: itemKinds[candidate.Class], Detail: shown(candidate.Hint),
			SortText: order(i), Filter: candidate.Text, TextEdit: &protocol.TextEdit{Range: at, NewText: e.style.Escape(candidate.Text)},
		})
	}
	return list
}

// order keeps candidates in their order.
func order(i int) string {
	const digits = "0123456789"
	return string([]byte{digits[i/1000%10], digits[i/100%10], digits[i/10%10], digits[i%10]})
}

var itemKinds = map[assist.Class]int{
	assist.ClassVariable: protocol.KindVariable, assist.ClassField: protocol.KindField, assist.ClassFunction: protocol.KindFunction,
	assist.ClassMethod: protocol.KindMethod, assist.ClassMacro: protocol.KindKeyword, assist.ClassWord: protocol.KindValue,
	assist.ClassNumber: protocol.KindValue, assist.ClassText: protocol.KindValue, assist.ClassOperator: protocol.KindKeyword,
}

func (v *view) signatureHelp(_ context.Context, offset int) *protocol.SignatureHelp {
	e := v.expression(offset)
	if e == nil || e.place == nil || e.at.key != "rule" && e.at.key != "messageExpression" {
		return nil
	}
	call := e.place.Call(e.src, e.cursor)
	if call == nil || call.Function == nil || len(call.Function.Forms) == 0 {
		return nil
	}
	help := &protocol.SignatureHelp{ActiveSignature: uint32(call.Form), ActiveParameter: uint32(call.Argument)}
	for _, form := range call.Function.Forms {
		s := protocol.Signature{Label: form.Signature}
		if text := call.Function.Description; text != "" {
			doc := plain(text)
			s.Doc = &doc
		}
		label := []rune(form.Signature)
		for _, p := range form.Parameters {
			s.Parameters = append(s.Parameters, protocol.Parameter{Label: string(label[p.Start:p.End])})
		}
		help.Signatures = append(help.Signatures, s)
	}
	return help
}
