package vet

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/phrase"
)

type unknownKinds map[string]*unknownKind

type unknownKind struct {
	first string
	hint  string // for the end of a message, or ""
	count int
}

func (u unknownKinds) add(one *vetted) {
	id := one.doc.Identity()
	kind := id.APIVersion + " " + id.Kind
	if u[kind] == nil {
		u[kind] = &unknownKind{first: fmt.Sprintf("%s: %s", one.doc.Location(), one.unknown), hint: one.hint}
	}
	u[kind].count++
}

const maxUnknown = 10

func (u unknownKinds) notes() (notes []error) {
	for i, kind := range slices.Sorted(maps.Keys(u)) {
		if i == maxUnknown {
			return append(notes, fmt.Errorf("expressions of %s more are not vetted", phrase.Count(len(u)-i, "kind")))
		}
		of := u[kind]
		text := fmt.Sprintf("%s is not vetted, because vet does not know the expressions of %s", of.first, kind+of.hint)
		if of.count > 1 {
			text += fmt.Sprintf(" (%d documents)", of.count)
		}
		notes = append(notes, errors.New(text))
	}
	return notes
}

const maxExpressionDepth = 12

func expressionIn(v any, path string, depth int) string {
	if depth > maxExpressionDepth {
		return ""
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := strings.TrimPrefix(path+"."+name, ".")
			if text, ok := v[name].(string); ok && text != "" && (name == "expression" || name == "celExpression") {
				return at
			}
			if found := expressionIn(v[name], at, depth+1); found != "" {
				return found
			}
		}
	case []any:
		for i, item := range v {
			if found := expressionIn(item, fmt.Sprintf("%s[%d]", path, i), depth+1); found != "" {
				return found
			}
		}
	}
	return ""
}
