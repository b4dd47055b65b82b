package policyvet

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
)

// rootPattern matches a field of a root.
const rootPattern = `(?:object|oldObject|params|request|variables|namespaceObject)(?:\.|\[)`

var (
	// concatenation matches text that is joined with a field of a root.
	concatenation = lazy.New(`['"]\s*\+\s*(?:string\(\s*)?` + rootPattern + `|` + rootPattern + `[\w.\[\]'"]*\s*\)?\s*\+\s*['"]`)
	// placeholder matches a field of a root in the syntax of templates.
	placeholder = lazy.New(`\{\s*` + rootPattern + `[^{}]*\}`)
)

// messages reports messages that are expressions, which users see unevaluated.
func messages(s *subject, schemas *Schemas, add reporter) {
	for _, m := range s.messages {
		switch {
		case placeholder.MatchString(m.text):
			add(celInMessage, place{path: m.path}, "message is not evaluated, so users see the placeholder: write a messageExpression, such as 'text ' + string(object.spec.replicas)")
		case isTextExpression(m.text, schemas) || concatenation.MatchString(m.text):
			add(celInMessage, place{path: m.path}, "message is not evaluated, so users see the expression: move it to messageExpression")
		}
	}
}

// isTextExpression reports whether text is an expression that composes a string.
func isTextExpression(source string, schemas *Schemas) bool {
	parsed, err := celenv.Parse(schemas.env, source)
	return err == nil && composes(parsed.NativeRep().Expr())
}

// composes reports whether an expression composes a string from literals and other values.
func composes(e ast.Expr) bool {
	if e.Kind() != ast.CallKind {
		return false
	}
	call := e.AsCall()
	switch call.FunctionName() {
	case operators.Add:
		return isText(call.Args()[0]) || isText(call.Args()[1])
	case operators.Conditional:
		return isText(call.Args()[1]) && isText(call.Args()[2])
	case "format":
		return call.IsMemberFunction() && isText(call.Target())
	}
	return false
}

func isText(e ast.Expr) bool {
	_, ok := text(e)
	return ok || composes(e)
}
