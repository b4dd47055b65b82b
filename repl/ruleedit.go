package repl

import (
	"fmt"

	"github.com/celadon-cel/celadon/x/crdedit"
)

// A ruleEdit is a change to the rules at a path in a CRD's text.
type ruleEdit struct {
	op    ruleOp
	at    crdedit.SchemaNode
	index int
	// field is a field of the rule, such as "rule" or "message".
	field, value string
}

type ruleOp uint8

const (
	addRule ruleOp = iota
	dropRule
	setField
	dropField
)

// apply returns doc with e applied to its text. It returns an error if the result would differ from
// doc in anything but the edit.
func (e ruleEdit) apply(doc Document) (Document, error) {
	crd, err := crdedit.Parse(doc.Text, doc.InList, doc.Item)
	if err != nil {
		return doc, err
	}
	text, err := e.edit(crd)
	if err != nil {
		return doc, err
	}
	edited, err := doc.convert(text)
	if err != nil {
		return doc, fmt.Errorf("the file cannot be edited here: %w", err)
	}
	return edited, nil
}

func (e ruleEdit) edit(crd *crdedit.CRD) ([]byte, error) {
	switch e.op {
	case addRule:
		return crd.AddRule(e.at, e.value)
	case dropRule:
		return crd.DropRule(e.at, e.index)
	case dropField:
		return crd.DropPart(e.at, e.index, e.field)
	}
	if e.field == "optionalOldSelf" {
		return crd.SetPart(e.at, e.index, e.field, true)
	}
	return crd.SetPart(e.at, e.index, e.field, e.value)
}
