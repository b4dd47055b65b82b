package lsp

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/x/assist"
)

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
