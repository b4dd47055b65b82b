package lsp

import (
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/assist"
	"github.com/celadon-cel/celadon/internal/yamlpos"
)

// ruleAt is a part of a rule in a CRD's text.
type ruleAt struct {
	version int // its position in the CRD
	steps   []engine.Step
	index   int
	key     string // of the part, as "rule"
	// path leads to the part in the text's tree.
	item int
	path yamlpos.Path
}

const validations = "x-kubernetes-validations"

func (r *ruleAt) part() assist.Part {
	switch r.key {
	case "rule":
		return assist.Rule
	case "messageExpression":
		return assist.MessageExpression
	}
	return assist.AnyExpression
}

// ruleOf says which part of which rule a path in a CRD's text leads to. The path may
// be that of a List.
func ruleOf(path yamlpos.Path) (ruleAt, bool) {
	r := ruleAt{path: path}
	rest, ok := r.top(path)
	for ok && len(rest) > 0 {
		name, _ := rest[0].Name()
		switch {
		case name == validations && len(rest) >= 2 && rest[1].Index() >= 0:
			r.index = rest[1].Index()
			if len(rest) == 3 {
				r.key, _ = rest[2].Name()
			}
			return r, len(rest) <= 3
		case name == "properties" && len(rest) >= 2:
			below, isKey := rest[1].Name()
			r.steps, rest, ok = append(r.steps, engine.Step{Name: below}), rest[2:], isKey
		case name == "items" || name == "additionalProperties":
			r.steps, rest = append(r.steps, engine.Step{Any: true}), rest[1:]
		default:
			return r, false
		}
	}
	return r, false
}

// top is what of a path stands below the schema of a version; a CRD of v1beta1 may
// have one for all.
func (r *ruleAt) top(path yamlpos.Path) (rest yamlpos.Path, ok bool) {
	names := make([]string, len(path))
	for i, step := range path {
		names[i], _ = step.Name()
	}
	if len(path) > 2 && names[0] == "items" && path[1].Index() >= 0 {
		r.item, path, names = path[1].Index(), path[2:], names[2:]
	}
	switch {
	case len(path) > 4 && slices.Equal(names[:5], []string{"spec", "versions", "", "schema", "openAPIV3Schema"}):
		r.version = path[2].Index()
		return path[5:], true
	case len(path) > 2 && slices.Equal(names[:3], []string{"spec", "validation", "openAPIV3Schema"}):
		return path[3:], true
	}
	return nil, false
}

// partOf is the part of a rule that a field of a report names; "" is the whole rule.
func partOf(field string) string {
	_, part, _ := strings.Cut(field[strings.LastIndex(field, "[")+1:], "].")
	return part
}

// samePlace is true of the place of a rule, as reports name it.
func samePlace(path string, at ruleAt) bool { return path == engine.FormatPath(at.steps) }
