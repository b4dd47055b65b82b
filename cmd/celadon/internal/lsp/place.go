package lsp

import (
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/crdedit"
)

// ruleAt is a part of a rule in a CRD's text.
type ruleAt struct {
	version int // its position in the CRD
	steps   []engine.Step
	index   int
	key     string // of the part, as "rule"
	// path leads to the part in the text's tree.
	item int
	path position.Path
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

// ruleOf says which part of which rule a path in a CRD's text leads to.
func ruleOf(path position.Path) (ruleAt, bool) {
	at, index, part, ok := crdedit.RuleAt(path)
	r := ruleAt{version: at.Version, steps: at.Steps, index: index, key: part, path: path}
	if len(path) > 1 {
		if name, _ := path[0].Name(); name == "items" {
			r.item = path[1].Index()
		}
	}
	return r, ok
}

// partOf is the part of a rule that a field of a report names; "" is the whole rule.
func partOf(field string) string {
	_, part, _ := strings.Cut(field[strings.LastIndex(field, "[")+1:], "].")
	return part
}

// samePlace is true of the place of a rule, as reports name it.
func samePlace(path string, at ruleAt) bool { return path == engine.FormatPath(at.steps) }
