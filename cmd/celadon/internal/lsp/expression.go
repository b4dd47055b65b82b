package lsp

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/x/assist"
)

type expression struct {
	*editor.Expression
	text    *text
	context *assist.Context // of a rule or message; nil if the schema is unknown
	crd     *part
	helper  helper // nil if the schema is unknown
}

type helper interface {
	Hover(source string, at int) *assist.Hover
	Complete(source []rune) assist.Completion
}

func (v *view) expression(offset int) *expression {
	if v.isGo() {
		return nil
	}
	p, within := v.trees.At(v.text.bytes, offset)
	if e, ok := p.PolicyExpression(within); ok {
		return &expression{Expression: e.Expression, text: v.text, helper: &assist.PolicyContext{Object: v.matched(e), Variables: e.Variables}}
	}
	e, ok := p.Expression(within)
	if !ok || e.Key || v.known == nil {
		return nil
	}
	of := v.known.good[spot{p.Index, e.At.Item}]
	if of == nil {
		return nil
	}
	x := &expression{Expression: e, text: v.text, crd: of}
	if e.At.Part() != assist.AnyExpression {
		if x.context = of.crd.expressionContext(&e.At, e.OptionalOldSelf, v.functions); x.context != nil {
			x.helper = x.context
		}
	}
	return x
}

// from and to count the code points of the expression.
func (e *expression) rangeOf(from, to int) protocol.Range {
	return e.text.rangeOf(e.Point(from), e.Point(to))
}

func (v *view) hover(p protocol.Params) *protocol.Hover {
	offset := v.text.offset(p.Position)
	e := v.expression(offset)
	if e == nil {
		return v.schemaHover(offset)
	}
	if e.helper == nil {
		return nil
	}
	h := e.helper.Hover(e.Source, e.Cursor)
	if h == nil {
		return nil
	}
	at := e.rangeOf(h.Start, h.End)
	return &protocol.Hover{Contents: plainText(strings.Join(h.Lines(), "\n")), Range: &at}
}

// plainText does not use Markdown, because untrusted CRDs could contain links and images.
func plainText(text string) (m protocol.Markup) {
	if text == "" {
		return m
	}
	return protocol.Markup{Kind: "plaintext", Value: shown(text)}
}

func (v *view) completion(p protocol.Params) *protocol.CompletionList {
	offset := v.text.offset(p.Position)
	e := v.expression(offset)
	if e == nil {
		return v.schemaCompletion(offset)
	}
	if e.helper == nil {
		return nil
	}
	source := []rune(e.Source)
	if source = source[:max(0, min(e.Cursor, len(source)))]; e.CursorFollows {
		source = append(source, ' ') // white space before the cursor is not part of the value
	}
	c := e.helper.Complete(source)
	at := v.text.rangeOf(offset, offset)
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

func order(i int) string {
	return fmt.Sprintf("%04d", i%10_000)
}

var itemKinds = map[assist.Class]int{
	assist.ClassVariable: protocol.KindVariable, assist.ClassField: protocol.KindField, assist.ClassFunction: protocol.KindFunction,
	assist.ClassMethod: protocol.KindMethod, assist.ClassMacro: protocol.KindKeyword, assist.ClassWord: protocol.KindValue,
	assist.ClassText: protocol.KindValue, assist.ClassOperator: protocol.KindKeyword,
}

func (v *view) signatureHelp(p protocol.Params) *protocol.SignatureHelp {
	e := v.expression(v.text.offset(p.Position))
	if e == nil || e.context == nil {
		return nil
	}
	call := e.context.Call(e.Source, e.Cursor)
	if call == nil || call.Function == nil || len(call.Function.Forms) == 0 {
		return nil
	}
	help := &protocol.SignatureHelp{ActiveSignature: uint32(call.Form), ActiveParameter: uint32(call.Argument)}
	for _, form := range call.Function.Forms {
		s := protocol.Signature{Label: form.Signature, Doc: plainText(call.Function.Description)}
		label := []rune(form.Signature)
		for _, p := range form.Parameters {
			s.Parameters = append(s.Parameters, protocol.Parameter{Label: string(label[p.Start:p.End])})
		}
		help.Signatures = append(help.Signatures, s)
	}
	return help
}

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
			return c.crd.expressionContext(&editor.RuleAt{Version: i}, false, v.functions)
		}
	}
	return nil
}
