package editor

import (
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/crdedit"
)

// RuleAt is a part of a rule in a CRD's text.
type RuleAt struct {
	Version int // its position in the CRD
	Steps   []engine.Step
	Index   int
	Key     string // of the part, as "rule"
	// Path leads to the part in the text's tree.
	Item int
	Path position.Path
}

// Part returns what the part is for.
func (r *RuleAt) Part() assist.Part {
	switch r.Key {
	case "rule":
		return assist.Rule
	case "messageExpression":
		return assist.MessageExpression
	}
	return assist.AnyExpression
}

// RuleOf returns the part of a rule to which a path in the text of a CRD leads.
func RuleOf(path position.Path) (RuleAt, bool) {
	at, index, part, ok := crdedit.RuleAt(path)
	r := RuleAt{Version: at.Version, Steps: at.Steps, Index: index, Key: part, Path: path}
	if len(path) > 1 {
		if name, _ := path[0].Name(); name == "items" {
			r.Item = path[1].Index()
		}
	}
	return r, ok
}
