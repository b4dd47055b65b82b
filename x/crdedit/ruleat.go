package crdedit

import (
	"slices"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// RuleAt parses a path in the text of a CRD, or of a List of CRDs, that leads to a rule or a field
// of a rule. It returns the schema node, the index of the rule, and the name of the field, which is
// "" for the whole rule. ok is false for any other path.
func RuleAt(path position.Path) (at SchemaNode, index int, part string, ok bool) {
	rest, ok := at.top(path)
	for ok && len(rest) > 0 {
		name, _ := rest[0].Name()
		switch {
		case name == validations && len(rest) >= 2 && rest[1].Index() >= 0:
			if len(rest) == 3 {
				part, _ = rest[2].Name()
			}
			return at, rest[1].Index(), part, len(rest) <= 3
		case name == "properties" && len(rest) >= 2:
			below, isKey := rest[1].Name()
			at.Steps, rest, ok = append(at.Steps, engine.Step{Name: below}), rest[2:], isKey
		case name == "items" || name == "additionalProperties":
			at.Steps, rest = append(at.Steps, engine.Step{Any: true}), rest[1:]
		default:
			return at, 0, "", false
		}
	}
	return at, 0, "", false
}

// top sets the version and returns the part of a path below the version's schema. A v1beta1 CRD can
// have one schema for all versions.
func (p *SchemaNode) top(path position.Path) (rest position.Path, ok bool) {
	names := make([]string, len(path))
	for i, step := range path {
		names[i], _ = step.Name()
	}
	if len(path) > 2 && names[0] == "items" && path[1].Index() >= 0 {
		path, names = path[2:], names[2:]
	}
	switch {
	case len(path) > 4 && slices.Equal(names[:5], []string{"spec", "versions", "", "schema", "openAPIV3Schema"}):
		p.Version = path[2].Index()
		return path[5:], true
	case len(path) > 2 && slices.Equal(names[:3], []string{"spec", "validation", "openAPIV3Schema"}):
		return path[3:], true
	}
	return nil, false
}
