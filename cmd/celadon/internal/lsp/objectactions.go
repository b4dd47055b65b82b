package lsp

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/assist"
)

func (a *actor) object() {
	o := a.objectAt(a.from)
	if o == nil || o.Tree.Broken() != nil || !a.rejected() {
		return
	}
	spot := o.Tree.At(o.within)
	n := len(spot.Path)
	if n == 0 || spot.Node.Kind != position.Scalar {
		return
	}
	steps := stepsOf(spot.Path)
	if of := assist.SchemaAt(o.root, steps); of != nil {
		a.change(o.Piece, spot.Path, of)
	} else if _, parent := o.Tree.Find(spot.Path[:n-1]); spot.Key && parent != nil {
		a.rename(o.Piece, &spot, unknownIn(assist.SchemaAt(o.root, steps[:n-1]), parent, n == 1))
	}
}

func (a *actor) rejected() bool {
	return slices.ContainsFunc(a.known.parts, func(p *part) bool {
		return p.documentType == object && slices.ContainsFunc(p.findings, a.isInRange)
	})
}

// unknownIn returns nil if the schema permits other fields.
func unknownIn(s *apiextensionsv1.JSONSchemaProps, parent *position.Node, root bool) (names []string) {
	if s == nil || s.AdditionalProperties != nil || s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields {
		return nil
	}
	names = slices.Sorted(maps.Keys(s.Properties))
	if root || s.XEmbeddedResource {
		names = append(names, "apiVersion", "kind", "metadata")
	}
	return slices.DeleteFunc(names, func(name string) bool {
		key, _ := parent.Get(name)
		return key != nil
	})
}

func (a *actor) rename(p editor.Piece, spot *position.Spot, names []string) {
	for i, name := range spell.Near(spot.Node.Value, names) {
		if after, err := p.Tree.Edit(position.Rename(spot.Path, name)); err == nil {
			unknown := a.findingsBetween(p, spot.Node, spot.Node, string(metav1.StatusReasonBadRequest))
			a.add(quickFix, "rename to "+name, p, after, i == 0, unknown)
		}
	}
}

const offeredValues = 5

func (a *actor) change(p editor.Piece, path position.Path, s *apiextensionsv1.JSONSchemaProps) {
	key, at := p.Tree.Find(path)
	if at == nil || at.Kind != position.Scalar || !at.Known || s.Type != "string" {
		return
	}
	if key == nil {
		key = at
	}
	known := assist.EnumStrings(s)
	if slices.Contains(known, at.Value) {
		return
	}
	values := spell.Near(at.Value, known)
	isNear := len(values) > 0
	if !isNear {
		values = known[:min(len(known), offeredValues)]
	}
	for i, value := range values {
		if after, err := p.Tree.Edit(position.Set(path, value)); err == nil {
			unsupported := a.findingsBetween(p, key, at, string(metav1.CauseTypeFieldValueNotSupported))
			a.add(quickFix, "change to "+value, p, after, i == 0 && isNear, unsupported)
		}
	}
}

func (a *actor) findingsBetween(p editor.Piece, from, to *position.Node, code string) fixFilter {
	return func(d *protocol.Diagnostic) bool {
		return overlaps(a.text, d.Range, p.Start+from.Start, p.Start+to.End) && d.Code == code
	}
}
