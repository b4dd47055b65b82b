package lsp

import (
	"context"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// definition returns the schema of the field at offset, which is in a rule or in an object.
func (v *view) definition(_ context.Context, offset int) []protocol.Location {
	if e := v.expression(offset); e != nil {
		return v.fieldInRule(e)
	}
	p, within := v.trees.At(v.text.bytes, offset)
	o := v.objectAt(p)
	if o == nil {
		return nil
	}
	return o.crd.schemaAt(o.version, stepsOf(p.Tree.At(within).Path))
}

func (v *view) fieldInRule(e *expression) []protocol.Location {
	if e.context == nil || e.At.Key != "rule" && e.At.Key != "messageExpression" {
		return nil
	}
	h := e.context.Hover(e.Source, e.Cursor)
	if h == nil || !h.InObject {
		return nil
	}
	steps, err := engine.ParsePath(h.Path)
	if err != nil {
		return nil
	}
	return (&sourced{v.uri, e.crd.text, e.crd}).schemaAt(e.At.Version, steps)
}

// schemaAt returns the location of the schema of a field: the name under properties, if any.
func (s *sourced) schemaAt(version int, steps []engine.Step) []protocol.Location {
	node := s.part.schemaNode(version, steps)
	if node == nil {
		return nil
	}
	if n := len(steps); n > 0 && steps[n-1].Name != "" {
		if above := s.part.schemaNode(version, steps[:n-1]); above != nil {
			if _, properties := above.Get("properties"); properties != nil {
				if key, _ := properties.Get(steps[n-1].Name); key != nil {
					return []protocol.Location{s.location(key)}
				}
			}
		}
	}
	return []protocol.Location{s.location(firstWord(node))}
}

// firstWord returns the first key or scalar in a node.
func firstWord(n *position.Node) *position.Node {
	for {
		switch {
		case n.Kind == position.Mapping && len(n.Keys) > 0:
			return n.Keys[0]
		case n.Kind == position.Sequence && len(n.Items) > 0:
			n = n.Items[0]
		default:
			return n
		}
	}
}

// references returns the locations in open objects where they violate the rule at offset.
func (v *view) references(_ context.Context, offset int) (found []protocol.Location) {
	p, within := v.trees.At(v.text.bytes, offset)
	at, ok := editor.RuleOf(p.Tree.At(within).Path)
	if !ok {
		return nil
	}
	of := v.crdAround(p.Index, at.Item)
	if of == nil || at.Version >= len(of.crd.read.CRD.Spec.Versions) {
		return nil
	}
	version, path := of.crd.read.CRD.Spec.Versions[at.Version].Name, engine.FormatPath(at.Steps)
	v.docs.mu.Lock()
	defer v.docs.mu.Unlock()
	for uri, d := range v.docs.all {
		if d.known == nil {
			continue
		}
		for _, p := range d.known.parts {
			for _, f := range p.findings {
				if p.documentType == object && p.kind == of.kind && f.rule != nil && f.rule.Version == version && f.rule.Path == path && f.rule.Index == at.Index {
					found = append(found, protocol.Location{URI: uri, Range: f.diagnostic.Range})
				}
			}
		}
	}
	return found
}
