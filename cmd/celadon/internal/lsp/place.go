package lsp

import (
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/engine"
)

const validations = "x-kubernetes-validations"

// partOf is the part of a rule that a field of a report names; "" is the whole rule.
func partOf(field string) string {
	_, part, _ := strings.Cut(field[strings.LastIndex(field, "[")+1:], "].")
	return part
}

// samePlace is true of the place of a rule, as reports name it.
func samePlace(path string, at editor.RuleAt) bool { return path == engine.FormatPath(at.Steps) }
