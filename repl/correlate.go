package repl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/assist"
)

// How it works: the API server correlates the new and the old value of a field by their path. Items of a list
// have the same path only if the list type is map. Below any other list, and below an object of the map type atomic,
// rules must not use oldSelf: the server rejects the CRD.

const noOldSelf = "rejected: oldSelf"

// A barrier is the outermost list or object on the way to a path whose items or fields cannot be correlated.
type barrier struct {
	path string
	node *apiextensionsv1.JSONSchemaProps
	// nested is set if another barrier lies below it.
	nested bool
}

func barrierAt(root *apiextensionsv1.JSONSchemaProps, steps []engine.Step) (b *barrier) {
	node := root
	for i, step := range steps {
		if node == nil {
			break
		}
		_, isField := node.Properties[step.Name]
		if node.Items != nil && listType(node) != "map" || isField && node.XMapType != nil && *node.XMapType == "atomic" {
			if b != nil {
				b.nested = true
				break
			}
			b = &barrier{path: engine.FormatPath(steps[:i]), node: node}
		}
		node = assist.SchemaBelow(node, step)
	}
	return b
}

// barrierOf returns the barrier of a rule at p that uses oldSelf, or nil.
func (s *Session) barrierOf(p *location, rule *apiextensionsv1.ValidationRule) *barrier {
	if !strings.Contains(rule.Rule, types.OldSelf) {
		return nil
	}
	b := barrierAt(s.state.crd.schema(s.state.version), p.steps)
	if b == nil {
		return nil
	}
	if x, err := p.compile(rule.Rule, rule.OptionalOldSelf); err != nil || !x.UsesOldSelf() {
		return nil
	}
	return b
}

func (b *barrier) note(rule string) string {
	at := phrase.Path(b.path)
	if b.node.Items == nil {
		text := fmt.Sprintf("note: %s uses oldSelf, but the API server cannot correlate fields of %s (map type atomic), so it rejects the CRD: ", rule, at)
		if !b.nested {
			text += fmt.Sprintf("remove x-kubernetes-map-type from %s, or ", at)
		}
		return text + fmt.Sprintf("move the rule to %s, where oldSelf is the whole old object\n", at)
	}
	text := fmt.Sprintf("note: %s uses oldSelf, but the API server cannot correlate items of %s (list type %s), so it rejects the CRD: ", rule, at, listType(b.node))
	if key := b.key(); key != "" {
		text += fmt.Sprintf("set x-kubernetes-list-type: map and x-kubernetes-list-map-keys: [%s] on %s, or ", key, at)
	}
	return text + fmt.Sprintf("move the rule to %s, where oldSelf is the whole old list\n", at)
}

func listType(list *schemaNode) string {
	if list.XListType == nil {
		return "atomic"
	}
	return *list.XListType
}

// key returns a field that can be the only key of the list's items, or "". The server requires that a key is a
// scalar that is required or has a default.
func (b *barrier) key() string {
	if b.nested || b.node.Items.Schema == nil || b.node.Items.Schema.Type != "object" {
		return ""
	}
	item := b.node.Items.Schema
	for _, name := range append([]string{"name", "key", "id", "type"}, slices.Sorted(maps.Keys(item.Properties))...) {
		prop := item.Properties[name]
		scalar := slices.Contains([]string{"string", "integer", "number", "boolean"}, prop.Type)
		if scalar && !prop.Nullable && (slices.Contains(item.Required, name) || prop.Default != nil) {
			return name
		}
	}
	return ""
}
