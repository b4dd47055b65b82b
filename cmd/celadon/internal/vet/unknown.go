package vet

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/types"
)

// otherKinds holds the kinds of documents that were not vetted.
type otherKinds map[string]*otherKind

type otherKind struct {
	// first is the first expression of a document, or "".
	first string
	hint  string // for the end of a message, or ""
	count int
}

func (u otherKinds) add(one *vetted) {
	id := one.doc.Identity()
	kind := cmp.Or(strings.TrimSpace(id.APIVersion+" "+id.Kind), "no kind")
	of := u[kind]
	if of == nil {
		of = &otherKind{}
		u[kind] = of
	}
	if of.count++; of.first == "" && one.other.path != "" {
		of.first, of.hint = fmt.Sprintf("%s: %s", one.doc.Location(), one.other.path), one.other.hint
	}
}

const maxOther = 10

// maxKind limits a kind in a note, in bytes.
const maxKind = 200

// withExpressions returns the kinds whose documents have expressions, sorted.
func (u otherKinds) withExpressions() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(u)), func(kind string) bool { return u[kind].first == "" })
}

func (u otherKinds) notes() (notes []error) {
	kinds := u.withExpressions()
	for i, kind := range kinds {
		if i == maxOther {
			return append(notes, fmt.Errorf("expressions of %s more are not vetted", phrase.Count(len(kinds)-i, "kind")))
		}
		of := u[kind]
		text := fmt.Sprintf("%s is not vetted, because vet does not know the expressions of %s", of.first, preview.Bytes(kind, maxKind)+of.hint)
		if of.count > 1 {
			text += fmt.Sprintf(" (%d documents)", of.count)
		}
		notes = append(notes, errors.New(text))
	}
	return notes
}

// String lists the kinds, or returns "" without any.
func (u otherKinds) String() string {
	var parts []string
	kinds := slices.Sorted(maps.Keys(u))
	for _, kind := range kinds[:min(len(kinds), maxOther)] {
		parts = append(parts, phrase.Count(u[kind].count, "document")+" of "+preview.Bytes(kind, maxKind))
	}
	if more := len(kinds) - maxOther; more > 0 {
		parts = append(parts, phrase.Count(more, "more kind"))
	}
	return strings.Join(parts, ", ")
}

// An unvetted describes a document of a kind that is not vetted.
type unvetted struct {
	// path is the path of an expression, or "kind", or "" if nothing indicates that it has expressions. hint is appended
	// to the note about it, or is "".
	path, hint string
}

func (v *vetter) unvetted(doc *input.Document) *unvetted {
	hint := v.kindHint(doc)
	path := expressionIn(doc.Object, "", 0, isNamedExpression)
	if group, _, _ := strings.Cut(doc.Identity().APIVersion, "/"); path == "" && isCustom(group) {
		path = expressionIn(doc.Object["spec"], "spec", 1, v.conditions())
	}
	if hint != "" {
		path = cmp.Or(path, "kind")
	}
	return &unvetted{path, hint}
}

// isCustom reports whether a group is not built in.
func isCustom(group string) bool {
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

const maxExpressionDepth = 12

// expressionIn returns the path of the first string for which is holds, or "".
func expressionIn(v any, path string, depth int, is func(name, text string) bool) string {
	if depth > maxExpressionDepth {
		return ""
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := strings.TrimPrefix(path+"."+name, ".")
			if text, ok := v[name].(string); ok && is(name, text) {
				return at
			}
			if found := expressionIn(v[name], at, depth+1, is); found != "" {
				return found
			}
		}
	case []any:
		for i, item := range v {
			at := fmt.Sprintf("%s[%d]", path, i)
			if text, ok := item.(string); ok && is("", text) {
				return at
			}
			if found := expressionIn(item, at, depth+1, is); found != "" {
				return found
			}
		}
	}
	return ""
}

func isNamedExpression(name, text string) bool {
	return text != "" && (name == "expression" || name == "celExpression")
}

// maxCondition limits the length of strings that are parsed, and maxConditions their number in a document, because most
// are not expressions.
const (
	maxCondition  = 2000
	maxConditions = 100
)

// conditions returns a function that reports whether a string is a condition in CEL: it compares, tests, or combines
// fields that are selected.
func (v *vetter) conditions() func(name, source string) bool {
	var env *cel.Env
	tries := 0
	return func(_, source string) bool {
		isLikely := strings.Contains(source, ".") && strings.ContainsAny(source, "=<>(&|!")
		if !isLikely || tries == maxConditions || len(source) > maxCondition {
			return false
		}
		tries++
		if env == nil {
			if env = v.env(); env == nil {
				return false
			}
		}
		parsed, err := celenv.Parse(env, source)
		return err == nil && isCondition(parsed.NativeRep().Expr())
	}
}

func isCondition(e ast.Expr) bool {
	isSelected := false
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		isSelected = isSelected || e.Kind() == ast.SelectKind
	}))
	return isSelected && isConditional(e)
}

var conditionals = map[string]bool{
	operators.Equals: true, operators.NotEquals: true, operators.Less: true, operators.LessEquals: true, operators.Greater: true,
	operators.GreaterEquals: true, operators.LogicalAnd: true, operators.LogicalOr: true, operators.LogicalNot: true, operators.In: true,
	"startsWith": true, "endsWith": true, "matches": true, "contains": true,
}

func isConditional(e ast.Expr) bool {
	switch e.Kind() {
	case ast.CallKind:
		return conditionals[e.AsCall().FunctionName()]
	case ast.SelectKind:
		return e.AsSelect().IsTestOnly()
	}
	return e.Kind() == ast.ComprehensionKind
}

// env returns an environment for parsing, or nil.
func (v *vetter) env() *cel.Env {
	version, err := types.ParseVersion(v.cfg.KubeVersion)
	if err != nil {
		return nil
	}
	scope, err := celenv.StoredRules(version).Scope()
	if err != nil {
		return nil
	}
	return scope.Env()
}
