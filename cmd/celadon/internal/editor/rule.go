package editor

import (
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/crdedit"
)

// A RuleAt identifies a part of a rule in the source of a CRD.
type RuleAt struct {
	Version int // index in the CRD
	Steps   []engine.Step
	Index   int
	Key     string // key of the part, for example "rule"
	// Item is the index of the CRD if the text is a List. Path leads to the part in the text's tree.
	Item int
	Path position.Path
}

// Part returns the kind of the part.
func (r *RuleAt) Part() assist.Part {
	switch r.Key {
	case "rule":
		return assist.Rule
	case "messageExpression":
		return assist.MessageExpression
	}
	return assist.AnyExpression
}

// RuleOf returns the part of a rule at path in the source of a CRD. It returns false if path is not
// in a rule.
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
