package policyvet

import (
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/types"
)

type fieldState uint8

const (
	// fieldUnknown: the path ends in an item, or a schema above accepts unknown fields.
	fieldUnknown fieldState = iota
	fieldDeclared
	fieldUndeclared
	mapKey
)

// A resolvedField is the result of looking up a path. parent, property, and name are only set if the
// state is fieldDeclared or mapKey. root is set for the fields of objects and of their metadata.
type resolvedField struct {
	state            fieldState
	parent, property *structuralschema.Structural
	name             string
	root             bool
}

// resolve looks up a path that begins with object or oldObject. The kind must be declared.
func (k *kind) resolve(path string) resolvedField {
	node := k.node
	steps := strings.Split(path, ".")[1:]
	for i, step := range steps {
		name, items := step, 0
		for strings.HasSuffix(name, "[]") {
			name, items = strings.TrimSuffix(name, "[]"), items+1
		}
		last := i == len(steps)-1
		var next *structuralschema.Structural
		switch property, state := property(node, name); {
		case state != fieldDeclared && state != mapKey:
			return resolvedField{state: state}
		case last && items == 0:
			return resolvedField{state, node, property, fieldName(name), i == 0 || i == 1 && steps[0] == "metadata"}
		default:
			next = property
		}
		for ; items > 0 && next != nil; items-- {
			next = itemsOf(next)
		}
		if node = next; last || node == nil {
			break
		}
	}
	return resolvedField{}
}

// property returns the schema of a field, or of the values of a map.
func property(node *structuralschema.Structural, name string) (*structuralschema.Structural, fieldState) {
	if property, ok := node.Properties[fieldName(name)]; ok {
		return &property, fieldDeclared
	}
	switch values := node.AdditionalProperties; {
	case values != nil && values.Structural != nil:
		return values.Structural, mapKey
	case values != nil || node.XPreserveUnknownFields || node.XIntOrString || node.Type == "":
		return nil, fieldUnknown
	}
	return nil, fieldUndeclared
}

func fieldName(identifier string) string {
	if name, ok := types.Unescape(identifier); ok {
		return name
	}
	return identifier
}

func itemsOf(node *structuralschema.Structural) *structuralschema.Structural {
	if node.Items != nil {
		return node.Items
	}
	if node.AdditionalProperties != nil {
		return node.AdditionalProperties.Structural
	}
	return nil
}

// serverFields lists metadata that the API server sets, and the fields that all objects have.
var serverFields = map[string]bool{"apiVersion": true, "kind": true, "metadata": true, "name": true, "uid": true, "creationTimestamp": true}

// always reports whether a declared field is in each object that has its parent.
func (k *kind) always(f *resolvedField) bool {
	if f.property.Default.Object != nil || f.root && (serverFields[f.name] || f.name == "namespace" && k.namespaced) {
		return true
	}
	return f.parent.ValueValidation != nil && slices.Contains(f.parent.ValueValidation.Required, f.name)
}
