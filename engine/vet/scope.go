package vet

import (
	"errors"
	"fmt"

	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/types"
)

var errNotVisible = errors.New("unable to convert structural schema to CEL declarations")

// typed returns the declaration with which a node's rules are compiled. Below a node with rules this is the parent's
// view of the node, which makes a difference only at a resource's root: metadata is declared there even if the schema
// lacks it.
func (b *branch) typed(decls *types.Interner) (*scope, error) {
	if b.scope == nil && b.scopeErr == nil {
		b.scope, b.scopeErr = b.newScope(decls)
	}
	return b.scope, b.scopeErr
}

func (b *branch) newScope(decls *types.Interner) (*scope, error) {
	if p := b.parent; p != nil && p.inScope {
		above, err := p.typed(decls)
		if err != nil {
			return nil, err
		}
		if _, escapes := types.Escape(b.name); above.decl == nil && (escapes || b.kind != atProperty) {
			return nil, errPanics // the server looks it up in the missing declaration
		}
		if s := b.seenFrom(above); s != nil {
			return s, nil
		}
	}
	node, err := b.structuralNode()
	if err != nil {
		return nil, err
	}
	at := types.Subtree
	if b.parent == nil || b.props.XEmbeddedResource {
		at = types.ResourceRoot
	}
	d := decls.FromSchema(node, at)
	if d.Kind == types.Hidden {
		return nil, errNotVisible
	}
	return &scope{node, d}, nil
}

// seenFrom returns nil for a property that the parent's declaration does not contain.
func (b *branch) seenFrom(above *scope) *scope {
	switch b.kind {
	case atProperty:
		if above.decl == nil || above.decl.Kind != types.Object {
			return nil
		}
		f := above.decl.Fields[b.name]
		if f == nil || !f.Visible() {
			return nil
		}
		prop := above.node.Properties[b.name]
		return &scope{&prop, f.Decl}
	case atItems:
		return &scope{above.node.Items, above.element()}
	}
	return &scope{above.node.AdditionalProperties.Structural, above.element()}
}

func (s *scope) element() *types.Decl {
	if s.decl == nil || s.decl.Kind != types.List && s.decl.Kind != types.Map {
		return nil
	}
	return s.decl.Elem
}

func internalText(err error) error {
	if errors.Is(err, expr.ErrNoType) {
		return err
	}
	return fmt.Errorf("internal error: failed to construct type information for x-kubernetes-validations rules: %s", err)
}
