package lsp

import (
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/engine"
)

const validations = "x-kubernetes-validations"

// partOf returns the part of a rule in the path of a report's field, or "" for the whole rule.
func partOf(field string) string {
	_, part, _ := strings.Cut(field[strings.LastIndex(field, "[")+1:], "].")
	return part
}

// samePath reports whether path, as in reports, is the path of the rule's schema.
func samePath(path string, at editor.RuleAt) bool { return path == engine.FormatPath(at.Steps) }
