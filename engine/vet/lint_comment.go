package vet

import (
	"strings"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/cel/lex"
)

// swallowedComment finds a comment that contains the rest of the rule, because YAML joined its lines.
func swallowedComment(in *inspection) *problem {
	if !strings.Contains(in.spec.Rule, "//") {
		return nil
	}
	env := celenv.NewRules(in.lowest)
	fixed, _ := lex.Swallowed(in.spec.Rule, func(src string) bool {
		_, checked, err := env.Compile(in.expr.key.Decl, in.expr.key.Optional, src)
		return err == nil && checked.OutputType().Kind() == in.expr.ast.OutputType().Kind()
	})
	if fixed == "" {
		return nil
	}
	return &problem{message: lex.SwallowedMessage, fix: fixed}
}
