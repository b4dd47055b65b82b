package lsp

import (
	"context"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/x/assist"
)

// An expression is a part of a rule in the text of a request.
type expression struct {
	*editor.Expression
	context *assist.Context // nil if the schema is unknown
	crd     *part
	text    *text
}

// expression returns the part of a rule at offset, or nil.
func (v *view) expression(offset int) *expression {
	if v.isGo() {
		return nil
	}
	p, within := v.trees.At(v.text.bytes, offset)
	e, ok := p.Expression(within)
	if !ok || e.Key {
		return nil
	}
	of := v.crdAround(p.Index, e.At.Item)
	if of == nil {
		return nil
	}
	return &expression{Expression: e, crd: of, context: of.crd.expressionContext(&e.At, e.OptionalOldSelf, v.functions), text: v.text}
}

// crdAround returns the last valid CRD at a position in the file, or nil.
func (v *view) crdAround(index, item int) *part {
	if v.known == nil {
		return nil
	}
	return v.known.good[spot{index, item}]
}

// rangeOf returns the range of code points of the expression.
func (e *expression) rangeOf(from, to int) protocol.Range {
	return e.text.rangeOf(e.Point(from), e.Point(to))
}

func (v *view) hover(_ context.Context, offset int) *protocol.Hover {
	e := v.expression(offset)
	if e == nil {
		if h := v.policyHover(offset); h != nil {
			return h
		}
		return v.schemaHover(offset)
	}
	if e.context == nil || e.At.Key != "rule" && e.At.Key != "messageExpression" {
		return nil
	}
	h := e.context.Hover(e.Source, e.Cursor)
	if h == nil {
		return nil
	}
	at := e.rangeOf(h.Start, h.End)
	return &protocol.Hover{Contents: plainText(strings.Join(h.Lines(), "\n")), Range: &at}
}

// plainText returns text as plain text. It does not use Markdown, because untrusted CRDs could
// contain links and images.
func plainText(text string) protocol.Markup {
	return protocol.Markup{Kind: "plaintext", Value: shown(text)}
}

func (v *view) completion(_ context.Context, offset int) *protocol.CompletionList {
	e := v.expression(offset)
	if e == nil {
		if list := v.policyCompletion(offset); list != nil {
			return list
		}
		return v.schemaCompletion(offset)
	}
	if e.context == nil || e.At.Key != "rule" && e.At.Key != "messageExpression" {
		return nil
	}
	e.reachCursor()
	return e.list(offset, e.context.CompleteAt(e.Source, e.Cursor))
}

// reachCursor adds the white space before the cursor, which is not part of the value.
func (e *expression) reachCursor() {
	if e.CursorFollows {
		e.Source += " "
		e.Cursor++
	}
}

// list returns the candidates for the cursor, which is at offset.
func (e *expression) list(offset int, c assist.Completion) *protocol.CompletionList {
	at := e.text.rangeOf(offset, offset)
	if !e.CursorFollows {
		at = e.rangeOf(c.Start, e.Cursor)
	}
	list := &protocol.CompletionList{Items: []protocol.CompletionItem{}}
	for i, candidate := range c.Candidates {
		list.Items = append(list.Items, protocol.CompletionItem{
			Label: shown(candidate.Text), Kind: itemKinds[candidate.Class], Detail: shown(candidate.Hint),
			SortText: order(i), Filter: candidate.Text, TextEdit: &protocol.TextEdit{Range: at, NewText: e.Style.Escape(candidate.Text)},
		})
	}
	return list
}

// order returns a sort key that keeps candidates in their order.
func order(i int) string {
	const digits = "0123456789"
	return string([]byte{digits[i/1000%10], digits[i/100%10], digits[i/10%10], digits[i%10]})
}

var itemKinds = map[assist.Class]int{
	assist.ClassVariable: protocol.KindVariable, assist.ClassField: protocol.KindField, assist.ClassFunction: protocol.KindFunction,
	assist.ClassMethod: protocol.KindMethod, assist.ClassMacro: protocol.KindKeyword, assist.ClassWord: protocol.KindValue,
	assist.ClassText: protocol.KindValue, assist.ClassOperator: protocol.KindKeyword,
}

func (v *view) signatureHelp(_ context.Context, offset int) *protocol.SignatureHelp {
	e := v.expression(offset)
	if e == nil || e.context == nil || e.At.Key != "rule" && e.At.Key != "messageExpression" {
		return nil
	}
	call := e.context.Call(e.Source, e.Cursor)
	if call == nil || call.Function == nil || len(call.Function.Forms) == 0 {
		return nil
	}
	help := &protocol.SignatureHelp{ActiveSignature: uint32(call.Form), ActiveParameter: uint32(call.Argument)}
	for _, form := range call.Function.Forms {
		s := protocol.Signature{Label: form.Signature}
		if text := call.Function.Description; text != "" {
			doc := plainText(text)
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

// policyExpression returns the expression of a policy at offset with its context, or nil.
func (v *view) policyExpression(offset int) (*expression, *assist.PolicyContext) {
	if v.isGo() {
		return nil, nil
	}
	p, within := v.trees.At(v.text.bytes, offset)
	e, ok := p.PolicyExpression(within)
	if !ok {
		return nil, nil
	}
	return &expression{Expression: e.Expression, text: v.text}, &assist.PolicyContext{Object: v.matched(e), Variables: e.Variables}
}

// matched returns the context of the first CRD of the workspace that a policy matches, or nil.
func (v *view) matched(e *editor.PolicyExpression) *assist.Context {
	for _, crd := range v.crds.live().Wanted(func(string, string) bool { return true }) {
		spec := &crd.Spec
		i := slices.IndexFunc(spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
			return v.Served && e.Matches(spec.Group, v.Name, spec.Names.Plural)
		})
		if i < 0 {
			continue
		}
		if c := v.crdOf(schema.GroupKind{Group: spec.Group, Kind: spec.Names.Kind}); c != nil {
			return c.part.crd.expressionContext(&editor.RuleAt{Version: i}, false, v.functions)
		}
	}
	return nil
}

// policyHover describes the token at offset in an expression of a policy, or returns nil.
func (v *view) policyHover(offset int) *protocol.Hover {
	e, in := v.policyExpression(offset)
	if e == nil {
		return nil
	}
	h := in.Hover(e.Source, e.Cursor)
	if h == nil {
		return nil
	}
	at := e.rangeOf(h.Start, h.End)
	return &protocol.Hover{Contents: plainText(strings.Join(h.Lines(), "\n")), Range: &at}
}

// policyCompletion returns the candidates at offset in an expression of a policy, or nil.
func (v *view) policyCompletion(offset int) *protocol.CompletionList {
	e, in := v.policyExpression(offset)
	if e == nil {
		return nil
	}
	e.reachCursor()
	text := []rune(e.Source)
	return e.list(offset, in.Complete(text[:max(0, min(e.Cursor, len(text)))]))
}
